"""The tables that MLflow's two stores share: a run's facts, parameters, tags and points."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, table
from loganalyst.sources.config.secrets import masked
from loganalyst.sources.files.flatten import Leaf, config_table
from loganalyst.sources.files.timestamps import from_seconds

# the numbers of mlflow.entities.RunStatus. A killed run stays RUNNING for ever, so RUNNING means unknown.
STATUS = {3: "finished", 4: "failed", 5: "killed"}
_NAMES = {"FINISHED": 3, "FAILED": 4, "KILLED": 5}
FACTS = ("run_name", "experiment_id", "source_name", "source_version", "entry_point_name", "lifecycle_stage")
_LEFT_OUT = {"mlflow.user", "mlflow.log-model.history", "mlflow.loggedModels"}  # the user, and lists of artifacts


def session(source: str, run: Mapping[str, Any]) -> pl.DataFrame:
    """The `sessions` row of a run: `start_time` and `end_time` in ms since 1970, `status` by number or name."""
    status = run.get("status")
    number = status if isinstance(status, int) else _NAMES.get(str(status).upper())
    started, ended = (_time(run.get(key)) for key in ("start_time", "end_time"))
    return table("sessions", {
        "session": [0],
        "source": source,
        "started": started,
        "ended": ended,
        "status": STATUS.get(number or 0, "unknown"),
    })  # fmt: skip


def config(source: str, params: Iterable[tuple[str, Leaf]], tags: Iterable[tuple[str, Leaf]]) -> pl.DataFrame:
    """`config` rows: a parameter under its own name, a user's tag under ``tags.``; nested names are dotted."""
    named = [(name if name.startswith("mlflow.") else f"tags.{name}", value) for name, value in tags]
    kept = [*params, *((name, value) for name, value in named if name not in _LEFT_OUT)]
    return masked(config_table(((name.replace("/", "."), value) for name, value in kept), source))


def facts(source: str, run: Mapping[str, Any]) -> pl.DataFrame:
    """`config` rows of the facts that MLflow itself records about a run."""
    known = [(f"mlflow.{key}", run[key]) for key in FACTS if run.get(key) not in (None, "")]
    return config_table([(key, value if isinstance(value, Leaf) else str(value)) for key, value in known], source)


def points(rows: pl.DataFrame, source: str) -> pl.DataFrame:
    """`points` from rows of metric, step, value, `ms` since 1970 (Int64) and line."""
    time = from_seconds(rows["ms"].cast(pl.Float64).fill_null(0) / 1000)
    frame = rows.with_columns(
        time.alias("time"), session=pl.lit(0), epoch=pl.lit(None, pl.Float64), source=pl.lit(source)
    )
    return frame.select([pl.col(name).cast(dtype) for name, dtype in SCHEMAS["points"].items()])


def _time(milliseconds: object) -> pl.Series:
    known = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    try:
        return from_seconds([float(milliseconds) / 1000 if known else 0.0])  # type: ignore[arg-type]
    except OverflowError:
        return from_seconds([0.0])
