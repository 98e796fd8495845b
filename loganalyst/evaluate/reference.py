"""Writes the reference of healthy runs: `rules/reference.yaml`, or one of the user's own.

It holds numbers only: for each feature that the catalogue asks, quantiles over healthy runs of each kind.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.healthyruns import Range, Reference, kinds, quantiles
from loganalyst.evaluate.labelled import Labelled
from loganalyst.writing import write_whole

PROBABILITIES = (0.005, 0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975, 0.995)
MOST_OF_ONE = 3  # runs for which a repository counts at most
MIN_RUNS, MIN_REPOSITORIES = 20, 4  # that know a feature, for its range to be written
DIGITS = 3  # significant ones
HEALTHY = "healthy"  # label
Names = NDArray[np.object_]


def write(file: Path, runs: Labelled, catalogue: Catalogue) -> None:
    """Write the reference of the healthy ones of labelled runs. A run without a repository belongs to its family."""
    healthy = runs.where(runs.truths["labels"].list.first() == HEALTHY)
    homes = healthy.truths.select(pl.coalesce("repo", "family"))["repo"].to_list()
    sources = ", ".join(sorted(filter(None, set(healthy.truths["source"]))))
    head = f"Written by `python -m loganalyst.evaluate PLACE... --reference FILE`; do not edit. Sources: {sources}"
    write_whole(file, text(reference(healthy.features, homes, asked(catalogue)), head), "--reference takes a file")


def asked(catalogue: Catalogue) -> tuple[str, ...]:
    """The numbers that questions ask for, without steps, in alphabetical order."""
    names = {name for ask in catalogue.questions for name in ask.features}
    declared = (catalogue.declared[name] for name in names)
    return tuple(sorted(f.name for f in declared if f.dtype in ("float", "int") and f.unit != "step"))


def reference(
    runs: pl.DataFrame,
    repositories: Sequence[str],
    names: Sequence[str],
    *,
    least: tuple[int, int] = (MIN_RUNS, MIN_REPOSITORIES),
    most: float = MOST_OF_ONE,
) -> Reference:
    """The reference of healthy `runs`, one row of features and one repository each, with the features `names`.

    A range is left out if fewer runs or repositories than `least` know the feature. A repository counts for at most
    `most` runs.
    """
    homes = np.array(repositories, object)
    rows = runs.select(pl.col("training_kind", "run_kind")).to_dicts()
    of_kind = {
        kind: np.array([kind in kinds(row) for row in rows]) for kind in sorted({k for r in rows for k in kinds(r)})
    }
    features = {}
    for name in names:
        values = runs[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        known = {kind: np.isfinite(values) & chosen for kind, chosen in of_kind.items()}
        ranges = {kind: _range(values[at], homes[at], most) for kind, at in known.items() if _enough(homes[at], least)}
        if ranges:
            features[name] = ranges
    return Reference(len(homes), len(set(repositories)), PROBABILITIES, features)


def _enough(homes: Names, least: tuple[int, int]) -> bool:
    return homes.size >= least[0] and len(set(homes)) >= least[1]


def _range(values: NDArray[np.float64], homes: Names, most: float) -> Range:
    """The range of the values of some runs, with the repository of each."""
    runs = Counter(homes)
    weights = [min(1.0, most / runs[home]) for home in homes]
    found = quantiles(values, weights, PROBABILITIES)
    rounded = tuple(float(f"{value:.{DIGITS}g}") for value in found)
    return Range(homes.size, len(runs), round(sum(weights), 1), rounded)


def text(found: Reference, head: str) -> str:
    """The file of a reference, with one line for each range."""
    lines = [f"# {head}", f"runs: {found.runs}", f"repositories: {found.repositories}"]
    lines += [f"probabilities: {_list(found.probabilities)}", "features:" if found.features else "features: {}"]
    for name, ranges in found.features.items():
        lines.append(f"  {name}:")
        for kind, of in ranges.items():
            counts = f"runs: {of.runs}, repositories: {of.repositories}, weight: {of.weight:g}"
            lines.append(f"    {kind}: {{{counts}, values: {_list(of.values)}}}")
    return "\n".join(lines) + "\n"


def _list(values: Iterable[float]) -> str:
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    """A number as YAML 1.1 reads it: `4e-08` would be a text."""
    digits, e, power = f"{value:g}".partition("e")
    return digits + (".0" if e and "." not in digits else "") + e + power
