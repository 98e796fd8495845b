"""The list of runs of an audit, one row per run."""

from collections.abc import Iterable, Sequence

import polars as pl

from loganalyst.model import Time
from loganalyst.model.tabletext import printable
from loganalyst.store import Outcome, Store

# fmt: off
COLUMNS = pl.Schema({
    "run_id": pl.String(), "path": pl.String(), "name": pl.String(),
    "status": pl.String(),  # of the diagnosis
    "ended_as": pl.String(),  # status of the run
    "label": pl.String(), "cause": pl.String(), "issue": pl.String(), "severity": pl.String(), "verdict": pl.String(),
    "confidence": pl.Float64(), "step": pl.Int64(), "file": pl.String(), "line": pl.Int64(), "node": pl.String(),
    "says": pl.String(), "why": pl.String(), "restart": pl.String(),
    "host": pl.String(), "job": pl.String(), "framework": pl.String(),
    "started": Time, "ended": Time, "points": pl.Int64(),
    "origin": pl.String(),  # OURS, or the file of the cause's rule or pattern
    "accepted": pl.String(), "settings_obeyed": pl.String(), "settings_ignored": pl.String(),  # one entry per line
})
# fmt: on
TEXTS = ("accepted", "settings_obeyed", "settings_ignored")
STATUSES = ("diagnosis_complete", "cause_unknown", "unreadable", "insufficient_data", "healthy")  # the worst first
SEVERITIES = ("critical", "error", "warning", "info")


def listing(store: Store, ids: Iterable[str], unread: Sequence[Outcome]) -> pl.DataFrame:
    """The runs `ids` of the store, and the `unread` runs, the worst first."""
    wanted = pl.Series("run_id", list(ids), pl.String)
    runs = store.runs.filter(pl.col("run_id").is_in(wanted.implode())).rename({"status": "ended_as"})
    runs = runs.drop("settings_ignored")
    judged = store.diagnoses.drop("json", "version", "reading").with_columns(
        pl.col(*TEXTS).list.join("\n").replace("", None)
    )
    node = pl.coalesce("node", "host")
    status = pl.col("status").fill_null("unreadable")  # its diagnosis was given up
    found = runs.join(judged, on="run_id", how="left").with_columns(status, node=node).select(COLUMNS.names()).collect()
    return worst_first(pl.concat([found, pl.DataFrame(map(_unread, unread), schema=COLUMNS)]))


def _unread(run: Outcome) -> dict[str, str]:
    """The row of a run that could not be read. Its path may not be UTF-8."""
    path = printable(run.path)
    name = path.rsplit("/", 1)[-1]
    return {"run_id": run.run, "path": path, "name": name, "status": "unreadable", "why": printable(run.why)}


def worst_first(runs: pl.DataFrame) -> pl.DataFrame:
    """Sorted by status, severity, confidence and path."""
    return runs.sort(
        pl.col("status").replace_strict(STATUSES, range(len(STATUSES)), default=len(STATUSES)),
        pl.col("severity").replace_strict(SEVERITIES, range(len(SEVERITIES)), default=len(SEVERITIES)),
        -pl.col("confidence"),
        "path",
    )
