"""Report the findings that are new since the last scan: each one once, even if the process is killed."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from loganalyst.auditing.batch import Audit, audit, used_store
from loganalyst.auditing.jobaccounts import more_than_chance
from loganalyst.errors import StoreError
from loganalyst.limits import MAX_RUN_SECONDS
from loganalyst.store import Store, lock

SCHEMA_ID = "loganalyst/scan/1"
RUN_FIELDS = (
    *("cause", "label", "issue", "severity", "confidence", "step", "file", "line", "node", "says", "restart", "origin"),
)
SETTINGS_FIELDS = ("settings_obeyed", "settings_ignored")
FINDING_KINDS = ("run", "node")  # the other kinds of lines are `accepted` and `settings`
REPORTED, REPORTING = "told", "telling"  # states of a finding in the store; the words are part of its format


class Sink(Protocol):
    """The destination of findings."""

    def add(self, lines: Sequence[str]) -> None:
        """Write each line; after the return, all of them are durable."""

    def written(self, ids: set[str]) -> set[str]:
        """The findings among `ids` that were certainly written."""


@dataclass(frozen=True)
class Scan:
    """The result of a scan: its `audit`, and the `new` lines as JSON objects."""

    audit: Audit
    new: Sequence[dict[str, Any]]

    @property
    def findings(self) -> Sequence[dict[str, Any]]:
        """The new lines that are findings."""
        return [line for line in self.new if line["kind"] in FINDING_KINDS]


def scan(
    paths: Iterable[str | Path],
    store: str | Path,
    sink: Sink,
    *,
    jobs: int | None = None,
    seconds: float = MAX_RUN_SECONDS,
    writes: Sequence[str | Path | None] = (),
    trust_run_settings: bool = False,
) -> Scan:
    """Read what changed at or below `paths`, and write the new findings to the `sink`, as JSON.

    A finding is a likely cause of a run, with its line of a file where it has one, or a node that fails significantly
    more often. Other lines show the influence of settings: `accepted` is a cause that settings accept, `settings` is a
    settings file that was obeyed or ignored. The store notes a finding before and after it is written. If a scan was
    killed in between, the sink decides; a finding that the sink does not have is written again, with `again` true.

    Raises StoreError if another scan of this store is running, or the store cannot be used. Raises LogAnalystError if
    the store, or one of the output files `writes`, lies in a run. Passes on errors of the sink.
    """
    opened = Store(store)
    below = opened.below(paths, writes)
    if used_store(store, below) is None:
        return Scan(audit(below, jobs=jobs, seconds=seconds, writes=writes), [])
    opened.make()
    with _alone(opened.path):
        found = audit(below, store, jobs=jobs, seconds=seconds, writes=writes, trust_run_settings=trust_run_settings)
        findings = _findings(found)
        before = dict(opened.reported.select("finding", "state").collect().iter_rows())
        known = {id_ for id_, state in before.items() if state == REPORTED}
        unsure = {id_ for id_, state in before.items() if state == REPORTING}
        known |= sink.written(unsure) if unsure else set()
        new = [{**f, "again": True} if f["id"] in unsure else f for f in findings if f["id"] not in known]
        if new or unsure:
            _note(opened, [f for f in new if f["id"] not in unsure], REPORTING)
            sink.add([json.dumps(f, allow_nan=False) for f in new])
            _note(opened, [*new, *({"id": id_, "run": {}} for id_ in unsure & known)], REPORTED)
        return Scan(found, new)


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Hold the lock that allows one scan of the store at a time."""
    folder = store / "scan-lock"
    with ExitStack() as held:
        try:
            folder.mkdir(exist_ok=True)
            held.enter_context(lock.writing(folder, 0.0))
        except StoreError as error:
            raise StoreError(store, f"is being scanned ({error.where} {error.what})", error.allowed) from None
        except (OSError, sqlite3.Error) as error:
            raise StoreError(store, f"cannot be used as a store ({error})", "a folder that can be written") from None
        yield


def _note(store: Store, findings: Sequence[dict[str, Any]], state: str) -> None:
    if findings:
        rows = [{"run_id": f["run"].get("id"), "finding": f["id"]} for f in findings]
        noted = pl.DataFrame(rows, schema={"run_id": pl.String, "finding": pl.String})
        store.keep("reported", noted.with_columns(state=pl.lit(state), time=datetime.now(UTC).replace(tzinfo=None)))


def _findings(found: Audit) -> list[dict[str, Any]]:
    """All findings of an audit, the worst first."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    likely = found.runs.filter(verdict="likely")
    runs = [
        {
            "schema": SCHEMA_ID, "kind": "run",
            "id": _finding_id(run["run_id"], run["cause"], *_message_place(run)),
            "time": now, "run": _run(run), **{name: run[name] for name in RUN_FIELDS},
            **{name: (run[name] or "").splitlines() for name in SETTINGS_FIELDS},
        }
        for run in likely.iter_rows(named=True)
    ]  # fmt: skip
    counts = ("runs", "failed", "other_runs", "other_failed", "q")
    nodes = [
        {
            "schema": SCHEMA_ID, "kind": "node", "id": _finding_id("node", node["value"]), "time": now, "run": {},
            "node": node["value"], **{name: node[name] for name in counts},
        }
        for node in _named(found).iter_rows(named=True)
    ]  # fmt: skip
    influences = [{"schema": SCHEMA_ID, "time": now, **line} for line in _influences(found)]
    return [*runs, *{line["id"]: line for line in (*nodes, *influences)}.values()]


def _message_place(run: dict[str, Any]) -> tuple[str | None, int | None]:
    """The file and line of the message that shows the cause; None for a cause that a curve shows.

    Only a curve gives a step. Its line is not in the id, because it can move while the run grows.
    """
    return (run["file"], run["line"]) if run["step"] is None else (None, None)


def _run(run: dict[str, Any]) -> dict[str, Any]:
    return {"id": run["run_id"], "path": run["path"], "name": run["name"], "job": run["job"]}


def _influences(found: Audit) -> Iterator[dict[str, Any]]:
    """The causes that settings accept, and the files of settings and rules that were obeyed or ignored."""
    for run in found.runs.filter(pl.any_horizontal(pl.col(*SETTINGS_FIELDS, "accepted").is_not_null())).iter_rows(
        named=True
    ):
        for text in (run["accepted"] or "").splitlines():
            yield {
                "kind": "accepted",
                "id": _finding_id("accepted", run["run_id"], text),
                "run": _run(run),
                "accepted": text,
            }
        for entry in (run["settings_obeyed"] or "").splitlines():
            file, _, what = entry.rpartition(": ")
            yield _settings_file(file, obeyed=True, what=what)
        for file in (run["settings_ignored"] or "").splitlines():
            yield _settings_file(file, obeyed=False, what="it came with a run")


def _settings_file(file: str, *, obeyed: bool, what: str) -> dict[str, Any]:
    id_ = _finding_id("settings", file, obeyed, what)
    return {"kind": "settings", "id": id_, "run": {}, "file": file, "obeyed": obeyed, "what": what}


def _named(found: Audit) -> pl.DataFrame:
    """The nodes that fail significantly more often: by the scheduler's jobs, else by runs."""
    runs = found.contrasts.filter(pl.col("key").is_in(["node", "host"]), more_than_chance())
    jobs = found.accounts.filter("named", by="node").rename({"jobs": "runs", "other_jobs": "other_runs"})
    columns = ("value", "runs", "failed", "other_runs", "other_failed", "q")
    every = pl.concat([jobs.select(columns), runs.select(columns)])
    return every.unique("value", keep="first", maintain_order=True)


def _finding_id(*parts: object) -> str:
    """The id of a finding: unique, and the same in every scan."""
    return blake2b("\0".join(map(str, parts)).encode(errors="replace"), digest_size=8).hexdigest()
