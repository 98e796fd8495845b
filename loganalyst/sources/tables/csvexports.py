"""What tracking tools put into the headers of their tables: runs, twins, settings, and whole comparisons of runs."""

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.tables.stepcolumns import plain

OWN = ("_step", "_runtime", "_timestamp")  # W&B's columns: where a row stands, no metric
_TWINS = ("__MIN", "__MAX")  # of the points W&B's page put into one
_BETWEEN = " - "  # run and metric, in the header of a download from W&B's page
_SETTING = "config/"  # Ray Tune
_COMPARISONS = ({"run_id", "name"}, {"run_id", "start_time"}, {"name", "state", "created"})  # MLflow's page, W&B's


def comparison(header: Collection[str]) -> bool:
    """Whether a row is a run: the download of a list of runs from MLflow's or W&B's page."""
    names = {plain(name) for name in header}
    return any(names >= marks for marks in _COMPARISONS)


def unmarked(header: Sequence[str]) -> list[str]:
    """The names of a download from W&B's page: without the run where there is one, else as `run/metric`."""
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
    """The columns that say nothing of their own: W&B's `_step` and the like, and twins equal to what they are of."""
    found = {name for name in values if _base(name).rsplit("/", 1)[-1] in OWN}
    for name in values.keys() - found:
        base = _base(name)
        if base != name and base in values and values[name].equals(values[base], null_equal=True):
            found.add(name)
    return found


def _base(name: str) -> str:
    return name.removesuffix(_TWINS[0]).removesuffix(_TWINS[1])


def settings(texts: Mapping[str, pl.Series], values: Mapping[str, pl.Series]) -> dict[str, Leaf]:
    """The first value of each column that holds a setting (Ray Tune's `config/lr`)."""
    found: dict[str, Leaf] = {}
    for name in texts:
        if name.startswith(_SETTING) and (given := texts[name].drop_nulls()).len():
            number = values[name].drop_nulls()
            found[name] = _whole(number[0]) if number.len() else str(given[0])
    return found


def key(name: str) -> str:
    """The dotted key of a setting's column."""
    return name.removeprefix(_SETTING).replace("/", ".")


def changes(column: pl.Series, setting: Leaf) -> bool:
    """Whether a setting does not keep its value, as in population based training: then it is a curve."""
    if not isinstance(setting, int | float):
        return False
    return bool((column.drop_nulls() != setting).any())


def _whole(value: float) -> Leaf:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
