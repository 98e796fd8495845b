"""The tables of a store: their names and columns."""

from functools import cache

import polars as pl

from loganalyst.model import SCHEMAS, Time
from loganalyst.sources.filetables import BIG


def _schema(**columns: pl.DataType | type[pl.DataType]) -> pl.Schema:
    return pl.Schema(columns)


# fmt: off
_OWN = {
    # one row for each run; the last three are the numbers of its rows in the big tables
    "runs": _schema(
        path=pl.String, name=pl.String, status=pl.String, formats=pl.String, framework=pl.String, host=pl.String,
        started=Time, ended=Time, job=pl.String, basis=pl.List(pl.String), suggested=pl.List(pl.String),
        ignored=pl.List(pl.String), settings=pl.String, settings_inside=pl.Boolean,
        settings_ignored=pl.List(pl.String),
        points=pl.Int64, distributions=pl.Int64, lines=pl.Int64,
    ),
    # one row for each file of a run
    "sources": _schema(path=pl.String, format=pl.String, bytes=pl.Int64, points=pl.Int64, lines=pl.Int64),
    # one row for each run; `label` to `node` describe the first cause, as does `origin` (`ours`, or the file of a rule
    # or pattern of the user's); `why` the run could not be judged; `restart` is the verdict on a restart;
    # `settings_obeyed` are `FILE: what`; `json` is the whole diagnosis, `version` that of the program and its rules,
    # `reading` the stamp of the reading that was judged
    "diagnoses": _schema(
        status=pl.String, label=pl.String, confidence=pl.Float64,
        cause=pl.String, issue=pl.String, severity=pl.String, verdict=pl.String, step=pl.Int64, file=pl.String,
        line=pl.Int64, node=pl.String, says=pl.String, why=pl.String, restart=pl.String,
        origin=pl.String, accepted=pl.List(pl.String), settings_obeyed=pl.List(pl.String),
        settings_ignored=pl.List(pl.String),
        json=pl.String, version=pl.String, reading=pl.Int64,
    ),
    # what the user confirmed: the rule (NULL: only a label, or healthy) and label that are true of a run
    "truths": _schema(path=pl.String, cause=pl.String, label=pl.String, note=pl.String, time=Time),
    # a finding that `scan` has reported (state `told`) or was about to report (`telling`)
    "reported": _schema(finding=pl.String, state=pl.String, time=Time),
    # the outcome of a cause of the run `old`: one row for each cause; `fix` is the change, `lineage` is shared
    "verifications": _schema(
        old=pl.String, old_path=pl.String, path=pl.String, lineage=pl.String, cause=pl.String, label=pl.String,
        outcome=pl.String, applied=pl.Boolean, fix=pl.String, time=Time,
    ),
}
# fmt: on
READ = (
    "blocks",
    "config",
    "jobs",
    "checkpoints",
    "collectives",
    "process_groups",
    "gaps",
    "sessions",
    "sources",
    "runs",
)  # small tables; a row of the last one makes the rows of the others count
JUDGED = ("features", "feature_sources", "findings", "diagnoses")  # the same
# Tables that cannot be made again from the runs: no row is dropped. Of rows equal in these columns the newest counts
KEPT = {"truths": ["run_id"], "reported": ["finding"], "verifications": ["run_id", "old", "cause"]}
ALL_TABLES = (*BIG, *READ, *JUDGED, *KEPT)
SEALS = "seals"  # a hidden column of `runs`: the seals of the run's big tables, as JSON


@cache
def schema(name: str) -> pl.Schema:
    """The columns of a table of the store, `run_id` first."""
    columns = _features() if name == "features" else _OWN.get(name) or SCHEMAS[name]
    return pl.Schema([("run_id", pl.String()), *columns.items()])


def _features() -> pl.Schema:
    from loganalyst.features import declared

    dtypes = {"float": pl.Float64(), "int": pl.Int64(), "bool": pl.Boolean(), "text": pl.String()}
    return pl.Schema({feature.name: dtypes[feature.dtype] for feature in declared().values()})
