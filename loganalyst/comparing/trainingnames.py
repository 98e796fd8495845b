"""The names of settings and metrics that identify a training, without names that any training has."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.baseline import kinds
from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.settingspace import TRACKER_PREFIXES
from loganalyst.curves.metricnames import normalise
from loganalyst.curves.roles import assign
from loganalyst.store import Store

Names = NDArray[np.bool_]  # one row per run, one column per name


def settings(ids: Sequence[str], config: pl.DataFrame) -> Names:
    """Which of the runs `ids` has which identifying setting; `config` has their settings."""
    known, limit = kinds(), limits().settings
    renamed = {}
    for key in config["key"].unique():
        kind = None if key.startswith(TRACKER_PREFIXES) else known.kind_of(key)
        if kind is not None and kind.name in limit.kinds:
            renamed[key] = _short_name(key, limit.vague)
    return incidence(ids, _renamed(config, "key", renamed))


def metrics(ids: Sequence[str], store: Store) -> Names:
    """The same for metrics, by role, so that a renamed metric stays the same one."""
    every = distinct(store.points.filter(pl.col("run_id").is_in(list(ids))).select("run_id", "metric"))
    limit = limits().metrics
    renamed = {}
    for metric, (role, _) in assign(every["metric"].unique()).items():
        if role.name not in limit.common:
            renamed[metric] = normalise(metric) if role.name in limit.named else role.name
    return incidence(ids, _renamed(every, "metric", renamed))


def having(ids: Sequence[str], store: Store, metric: str | None) -> NDArray[np.bool_]:
    """Which of the runs `ids` have this metric (None: no run)."""
    if metric is None:
        return np.zeros(len(ids), dtype=bool)
    found = distinct(store.points.filter(pl.col("run_id").is_in(list(ids)), metric=metric).select("run_id"))
    return pl.Series(list(ids)).is_in(found["run_id"].to_list()).to_numpy()


def distinct(rows: pl.LazyFrame) -> pl.DataFrame:
    """The distinct rows, by streaming: there are as many rows as points."""
    return rows.unique().collect(engine="streaming")


def incidence(ids: Sequence[str], rows: pl.DataFrame) -> Names:
    """Which of the runs `ids` has which name, from `rows` of `run_id` and `name`."""
    run = pl.col("run_id").replace_strict(ids, range(len(ids)), default=None, return_dtype=pl.Int64)
    found = rows.select(run=run, name=pl.col("name").rank("dense") - 1).drop_nulls()
    out = np.zeros((len(ids), rows["name"].n_unique()), dtype=bool)
    out[found["run"].to_numpy(), found["name"].to_numpy()] = True
    return out


def _renamed(rows: pl.DataFrame, column: str, renamed: dict[str, str]) -> pl.DataFrame:
    name = pl.col(column).replace_strict(renamed, default=None, return_dtype=pl.String)
    return rows.select("run_id", name=name).drop_nulls()


def _short_name(key: str, vague: frozenset[str]) -> str:
    """The last part of a dotted key, with the part before it if the last one is vague."""
    parts = [p for p in key.lower().replace("-", "_").replace("/", ".").split(".") if not p.isdecimal()] or [key]
    return ".".join(parts[-2:]) if parts[-1] in vague else parts[-1]
