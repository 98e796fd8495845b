"""Headers that tracking tools write: run names, MIN and MAX twins, settings, and comparisons of whole runs."""

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.tables.stepcolumns import normalised

OWN = ("_step", "_runtime", "_timestamp")  # W&B's own columns, which are not metrics
_TWINS = ("__MIN", "__MAX")  # columns of the range of the points that W&B's page merged into one
_BETWEEN = " - "  # between run and metric: `run-7 - train/loss`, as W&B's page downloads it
_SETTING = "config/"  # prefix of settings in Ray Tune's tables
# columns that only a download of a list of runs has: two of MLflow's page, one of W&B's
_COMPARISONS = ({"run_id", "name"}, {"run_id", "start_time"}, {"name", "state", "created"})


def comparison(header: Collection[str]) -> bool:
    """Whether each row is a whole run: a list of runs, downloaded from MLflow's or W&B's page."""
    names = {normalised(name) for name in header}
    return any(names >= marks for marks in _COMPARISONS)


def unmarked(header: Sequence[str]) -> list[str]:
    """The header of a download from W&B's page: `metric` if it has one run, else `run/metric`."""
    there = set(header)
    twinned = [n for n in header if _BETWEEN in n and all(n + end in there for end in _TWINS)]
    runs = {name.rsplit(_BETWEEN, 1)[0] for name in twinned}

    def short(name: str) -> str:
        run, _, metric = name.rpartition(_BETWEEN)
        if run not in runs:
            return name
        return metric if len(runs) == 1 else f"{run}/{metric}"

    return [short(name) for name in header]


def idle(values: Mapping[str, pl.Series]) -> set[str]:
    """The columns that add no information: W&B's own, and twins that equal their main column."""
    found = {name for name in values if _base(name).rsplit("/", 1)[-1] in OWN}
    for name in values.keys() - found:
        base = _base(name)
        if base != name and base in values and values[name].equals(values[base], null_equal=True):
            found.add(name)
    return found


def _base(name: str) -> str:
    return name.removesuffix(_TWINS[0]).removesuffix(_TWINS[1])


def settings(texts: Mapping[str, pl.Series], values: Mapping[str, pl.Series]) -> dict[str, Leaf]:
    """The first value of each column that holds a setting, such as Ray Tune's `config/lr`."""
    found: dict[str, Leaf] = {}
    for name in texts:
        if name.startswith(_SETTING) and (with_values := texts[name].drop_nulls()).len():
            number = values[name].drop_nulls()
            found[name] = _as_integer(number[0]) if number.len() else str(with_values[0])
    return found


def key(name: str) -> str:
    """The dotted key of a setting's column."""
    return name.removeprefix(_SETTING).replace("/", ".")


def changes(column: pl.Series, setting: Leaf) -> bool:
    """Whether a setting changes, as in population based training. Then it is a curve."""
    if not isinstance(setting, int | float):
        return False
    return bool((column.drop_nulls() != setting).any())


def _as_integer(value: float) -> Leaf:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
