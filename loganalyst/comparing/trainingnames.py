"""The names that say what a run trains: of its settings and its metrics, without those that any training has."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.baseline import kinds
from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.settingspace import FACTS
from loganalyst.curves.roles import assign, normalise
from loganalyst.store import Store

Names = NDArray[np.bool_]  # a row a run, a column a name


def settings(ids: Sequence[str], config: pl.DataFrame) -> Names:
    """Which of the runs `ids` has which setting, of those that the rules name; `config` has their settings."""
    known, of = kinds(), limits().settings
    told = {}
    for key in config["key"].unique():
        kind = None if key.startswith(FACTS) else known.kind_of(key)
        if kind is not None and kind.name in of.kinds:
            told[key] = _last(key, of.vague)
    return incidence(ids, _renamed(config, "key", told))


def metrics(ids: Sequence[str], store: Store) -> Names:
    """The same of metrics: by role, so that a metric that was renamed is the same one."""
    every = distinct(store.points.filter(pl.col("run_id").is_in(list(ids))).select("run_id", "metric"))
    of = limits().metrics
    told = {}
    for metric, (role, _) in assign(every["metric"].unique()).items():
        if role.name not in of.common:
            told[metric] = normalise(metric) if role.name in of.named else role.name
    return incidence(ids, _renamed(every, "metric", told))


def having(ids: Sequence[str], store: Store, metric: str | None) -> NDArray[np.bool_]:
    """Which of the runs `ids` have this metric (None: there is none)."""
    if metric is None:
        return np.zeros(len(ids), dtype=bool)
    found = distinct(store.points.filter(pl.col("run_id").is_in(list(ids)), metric=metric).select("run_id"))
    return pl.Series(list(ids)).is_in(found["run_id"].to_list()).to_numpy()


def distinct(rows: pl.LazyFrame) -> pl.DataFrame:
    """The rows that differ; a part of them at a time, for there are as many as points."""
    return rows.unique().collect(engine="streaming")


def incidence(ids: Sequence[str], rows: pl.DataFrame) -> Names:
    """Which of the runs `ids` stands in a row `run_id`, `name` with which name."""
    run = pl.col("run_id").replace_strict(ids, range(len(ids)), default=None, return_dtype=pl.Int64)
    found = rows.select(run=run, name=pl.col("name").rank("dense") - 1).drop_nulls()
    out = np.zeros((len(ids), rows["name"].n_unique()), dtype=bool)
    out[found["run"].to_numpy(), found["name"].to_numpy()] = True
    return out


def _renamed(rows: pl.DataFrame, column: str, told: dict[str, str]) -> pl.DataFrame:
    name = pl.col(column).replace_strict(told, default=None, return_dtype=pl.String)
    return rows.select("run_id", name=name).drop_nulls()


def _last(key: str, vague: frozenset[str]) -> str:
    """The last part of a dotted key, with the one before it where it says too little alone."""
    parts = [p for p in key.lower().replace("-", "_").replace("/", ".").split(".") if not p.isdecimal()] or [key]
    return ".".join(parts[-2:]) if parts[-1] in vague else parts[-1]
