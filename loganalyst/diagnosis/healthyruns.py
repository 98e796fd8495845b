"""The reference of healthy runs: where the values of a feature lie in them, for each kind of training.

Ours is `rules/reference.yaml` (`python -m loganalyst.evaluate --reference`). The user's own are the files in
`reference/` of a folder of rules (`loganalyst reference add`).
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loganalyst.errors import RuleError
from loganalyst.model import Feature, FeatureValue, HealthyPlace
from loganalyst.rulefiles import (
    Finite,
    Positive,
    Shape,
    Share,
    Texts,
    needed,
    origin,
    ours,
    rules_dir,
    typed,
    yaml_files,
)
from loganalyst.rulefiles import load as load_yaml

NAME, FOLDER = "reference.yaml", "reference"
ANY = "any"  # the name of all kinds together
NO_KIND = "none"  # the kind of training of a run that trains nothing
POOLED_POINTS = 401  # quantiles by which two references are pooled

Count = Annotated[int, needed("a whole number above 0 is needed", gt=0)]


class Range(Shape, frozen=True):
    """The values of a feature in healthy `runs` of some `repositories`: quantiles at `Reference.probabilities`.

    `weight` is the number of runs that they count for: a repository counts for at most three.
    """

    runs: Count
    repositories: Count
    weight: Positive
    values: tuple[Finite, ...]


class Reference(Shape, frozen=True):
    """The ranges by feature and kind of run, of so many `runs` and `repositories` in all."""

    runs: Count
    repositories: Count
    probabilities: tuple[Share, ...]
    features: dict[str, dict[str, Range]]


class Limits(Shape, frozen=True):
    """The limits of `rules/healthyruns.yaml`, which explains them."""

    runs: Count
    repositories: Count
    unusual: Share
    sizes: Count
    units: tuple[str, ...]
    units_of_length: Texts
    prefixes_without_size: Texts


@dataclass(frozen=True)
class HealthyRuns:
    """Several references as one, by their files. Ranges are pooled when they are asked for."""

    references: Mapping[Path, Reference] = field(default_factory=dict)
    _known: dict[tuple[str, str], Range | None] = field(default_factory=dict, compare=False, repr=False)

    def range(self, feature: str, kind: str) -> Range | None:
        """The range of a feature in healthy runs of a kind, with quantiles at `probabilities`; or None."""
        if (feature, kind) not in self._known:
            found = ((r.probabilities, r.features.get(feature, {}).get(kind)) for r in self.references.values())
            parts = [(probabilities, of) for probabilities, of in found if of is not None]
            self._known[feature, kind] = _pooled(parts, self.probabilities) if parts else None
        return self._known[feature, kind]

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probabilities of the quantiles of a range."""
        return next((r.probabilities for r in self.references.values()), ())

    def kinds(self, feature: str) -> tuple[str, ...]:
        """The kinds of healthy runs that know a feature, in alphabetical order."""
        return tuple(sorted({kind for r in self.references.values() for kind in r.features.get(feature, ())}))

    def enough(self, feature: str, kinds: Sequence[str]) -> tuple[str, Range] | None:
        """The first of the `kinds` of which enough healthy runs know the feature, and its range."""
        for kind in kinds:
            found = self.range(feature, kind)
            if found and found.runs >= limits().runs and found.repositories >= limits().repositories:
                return kind, found
        return None

    def place(self, feature: str, value: FeatureValue, kinds: Sequence[str]) -> HealthyPlace | None:
        """Where a value lies among healthy runs of the first of the `kinds` of which there are enough."""
        if not number(value) or (found := self.enough(feature, kinds)) is None:
            return None
        kind, of = found
        below, above = _shares(of.values, self.probabilities, value)
        return HealthyPlace("" if kind == ANY else kind, of.runs, of.repositories, below, above)


@cache
def limits() -> Limits:
    """The limits in force."""
    return ours("healthyruns.yaml", Limits)


def number(value: FeatureValue) -> TypeGuard[float]:
    """Whether a value is a finite number."""
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)


def sizes(asked: Sequence[str], declared: Mapping[str, Feature]) -> tuple[str, ...]:
    """The features among those of a question that have a size. None if the question is about something else as well,
    or about more sizes than single ranges describe.
    """
    of_size = tuple(name for name in asked if _has_size(declared[name]))
    others = [declared[name] for name in asked if name not in of_size]
    alone = all(feature.unit in limits().units_of_length for feature in others)
    return of_size if alone and len(of_size) <= limits().sizes else ()


def _has_size(feature: Feature) -> bool:
    numeric = feature.dtype in ("float", "int") and feature.unit in limits().units
    return numeric and not feature.name.startswith(limits().prefixes_without_size)


def kinds(values: Mapping[str, FeatureValue]) -> tuple[str, ...]:
    """The kinds of a run by its features: its kind of training, its kind of run, and all kinds together.

    >>> kinds({"training_kind": "detection", "run_kind": "training"})
    ('detection', 'training', 'any')
    """
    known = (values.get("training_kind"), values.get("run_kind"), ANY)
    return tuple(dict.fromkeys(kind for kind in known if isinstance(kind, str) and kind != NO_KIND))


def load(folders: Sequence[Path]) -> tuple[HealthyRuns, list[RuleError]]:
    """The references of the folders of rules, ours first, and the faults of the user's, which are left out.

    Raises RuleError for a fault in ours.
    """
    found, faults = dict[Path, Reference](), list[RuleError]()
    for path in (path for folder in folders for path in files(folder)):
        try:
            found[path] = read(path)
        except RuleError as fault:
            if not origin(path):
                raise
            faults.append(fault)
    return HealthyRuns(found), faults


def files(folder: Path) -> list[Path]:
    """The files of references in a folder of rules. Ours is not in a folder of its own."""
    if folder == rules_dir():
        return [folder / NAME] if (folder / NAME).is_file() else []
    return yaml_files(folder, FOLDER)


def read(path: Path) -> Reference:
    """One reference. Raises RuleError for a file that is not valid."""
    file = load_yaml(path)
    found = typed(file, Reference)
    if list(found.probabilities) != sorted(set(found.probabilities)):
        raise RuleError(file.where("probabilities"), "probabilities do not rise")
    for name, by_kind in found.features.items():
        for kind, of in by_kind.items():
            if len(of.values) != len(found.probabilities) or list(of.values) != sorted(of.values):
                allowed = f"{len(found.probabilities)} numbers that do not fall are needed"
                raise RuleError(file.where("features", name, kind), "values are no quantiles", allowed)
    return found


def quantiles(values: ArrayLike, weights: ArrayLike, probabilities: Sequence[float]) -> NDArray[np.float64]:
    """Quantiles of weighted values, linear between them. With equal weights they are those of `numpy.quantile`.

    >>> quantiles([3.0, 1.0, 2.0], [1, 1, 1], [0.5, 0.75]).tolist()
    [2.0, 2.5]
    """
    x, w = np.asarray(values, float), np.asarray(weights, float)
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    middle = np.cumsum(w) - w / 2
    at = middle - middle[0]
    return np.asarray(np.interp(probabilities, at / (at[-1] or 1.0), x), float)


def _pooled(parts: Sequence[tuple[Sequence[float], Range]], probabilities: Sequence[float]) -> Range:
    """One range of several, by points that stand for the runs of each."""
    if len(parts) == 1 and parts[0][0] == probabilities:
        return parts[0][1]
    at = np.linspace(0, 1, POOLED_POINTS)
    values = np.concatenate([np.interp(at, known, of.values) for known, of in parts])
    weights = np.repeat([of.weight for _, of in parts], POOLED_POINTS)
    runs, repositories = sum(of.runs for _, of in parts), sum(of.repositories for _, of in parts)
    pooled = quantiles(values, weights, probabilities)
    return Range(runs, repositories, sum(of.weight for _, of in parts), tuple(pooled.tolist()))


def _shares(values: Sequence[float], probabilities: Sequence[float], value: float) -> tuple[float, float]:
    """The share of healthy runs with a smaller value, and with a larger one, as far as the quantiles show them."""
    low, high = bisect_left(values, value), bisect_right(values, value)
    below = _probability(values, probabilities, low, value) if low else 0.0
    return below, 1 - _probability(values, probabilities, high, value) if high < len(values) else 0.0


def _probability(values: Sequence[float], probabilities: Sequence[float], i: int, value: float) -> float:
    """The probability of a value between the quantiles i - 1 and i, which differ."""
    if i in (0, len(values)):
        return probabilities[min(i, len(values) - 1)]
    share = (value - values[i - 1]) / (values[i] - values[i - 1])
    return probabilities[i - 1] + share * (probabilities[i] - probabilities[i - 1])
