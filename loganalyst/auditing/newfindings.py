"""What is new since the last time, for cron: each finding is told once, whoever is killed in between."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from loganalyst.auditing.batch import Audit, audit
from loganalyst.auditing.jobaccounts import more_than_chance
from loganalyst.errors import StoreError
from loganalyst.limits import MAX_RUN_SECONDS
from loganalyst.store import Store, lock
from loganalyst.writing import is_stream, write_whole

SCHEMA_ID = "loganalyst/scan/1"
TOLD = ("cause", "label", "issue", "severity", "confidence", "step", "file", "line", "node", "says", "origin")
WHOSE = ("settings_obeyed", "settings_ignored")
FINDINGS = ("run", "node")  # kinds of lines


class Sink(Protocol):
    """Where findings go."""

    def add(self, lines: Sequence[str]) -> None:
        """A line each; when it returns, they are there for good."""

    def told(self, ids: set[str]) -> set[str]:
        """Those of the findings `ids` that are surely there."""


@dataclass(frozen=True)
class Scan:
    """What a scan found: the `audit` it rests on, and what is `new`, an object each."""

    audit: Audit
    new: Sequence[dict[str, Any]]

    @property
    def findings(self) -> Sequence[dict[str, Any]]:
        """Those of the new that are findings."""
        return [told for told in self.new if told["kind"] in FINDINGS]


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
    """Read what changed at or below `paths`, and put the findings that were not told before into the `sink`, as JSON.

    A finding is a likely cause of a run, at its line of a file where it has one, or a node that fails more than chance.
    Lines of the kinds `accepted` (a cause that settings accept) and `settings` (a file that is obeyed, or is not) say
    whose word it is beside ours. The store notes a finding before it is reported, and again afterwards. Where a scan
    was killed between the two, the sink decides; what it does not know is reported again, with `again` true.

    Raises StoreError where another scan of this store goes on, or the store cannot be used; LogAnalystError where it,
    or one of the files `writes` that are to be written, lies in a run; and what the sink raises.
    """
    kept = Store(store)
    below = kept.below(paths, writes)
    kept.make()
    with _alone(kept.path):
        found = audit(below, store, jobs=jobs, seconds=seconds, writes=writes, trust_run_settings=trust_run_settings)
        findings = _findings(found)
        before = dict(kept.reported.select("finding", "state").collect().iter_rows())
        known = {id_ for id_, state in before.items() if state == "told"}
        unsure = {id_ for id_, state in before.items() if state == "telling"}
        known |= sink.told(unsure) if unsure else set()
        new = [{**f, "again": True} if f["id"] in unsure else f for f in findings if f["id"] not in known]
        if new or unsure:
            _note(kept, [f for f in new if f["id"] not in unsure], "telling")
            sink.add([json.dumps(f, allow_nan=False) for f in new])
            _note(kept, [*new, *({"id": id_, "run": {}} for id_ in unsure & known)], "told")
        return Scan(found, new)


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Be the only scan of the store."""
    folder = store / "scan-lock"
    try:
        folder.mkdir(exist_ok=True)
        with lock.writing(folder, 0.0):
            yield
    except OSError as error:
        raise StoreError(store, f"cannot be used as a store ({error})", "a folder that can be written") from None


def _note(store: Store, findings: Sequence[dict[str, Any]], state: str) -> None:
    if findings:
        rows = [{"run_id": f["run"].get("id"), "finding": f["id"]} for f in findings]
        told = pl.DataFrame(rows, schema={"run_id": pl.String, "finding": pl.String})
        store.keep("reported", told.with_columns(state=pl.lit(state), time=datetime.now(UTC).replace(tzinfo=None)))


def _findings(found: Audit) -> list[dict[str, Any]]:
    """All findings of an audit, the worst first."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    likely = found.runs.filter(verdict="likely")
    runs = [
        {
            "schema": SCHEMA_ID, "kind": "run", "id": _id(run["run_id"], run["cause"], run["file"], run["line"]),
            "time": now, "run": _run(run), **{name: run[name] for name in TOLD},
            **{name: (run[name] or "").splitlines() for name in WHOSE},
        }
        for run in likely.iter_rows(named=True)
    ]  # fmt: skip
    counts = ("runs", "failed", "other_runs", "other_failed", "q")
    nodes = [
        {
            "schema": SCHEMA_ID, "kind": "node", "id": _id("node", node["value"]), "time": now, "run": {},
            "node": node["value"], **{name: node[name] for name in counts},
        }
        for node in _named(found).iter_rows(named=True)
    ]  # fmt: skip
    whose = [{"schema": SCHEMA_ID, "time": now, **told} for told in _whose(found)]
    return [*runs, *{node["id"]: node for node in nodes}.values(), *{told["id"]: told for told in whose}.values()]


def _run(run: dict[str, Any]) -> dict[str, Any]:
    return {"id": run["run_id"], "path": run["path"], "name": run["name"], "job": run["job"]}


def _whose(found: Audit) -> Iterator[dict[str, Any]]:
    """The causes that settings accept, and the files of settings and rules that are obeyed, or are not."""
    for run in found.runs.filter(pl.any_horizontal(pl.col(*WHOSE, "accepted").is_not_null())).iter_rows(named=True):
        for text in (run["accepted"] or "").splitlines():
            yield {"kind": "accepted", "id": _id("accepted", run["run_id"], text), "run": _run(run), "accepted": text}
        for entry in (run["settings_obeyed"] or "").splitlines():
            file, _, what = entry.rpartition(": ")
            yield _file(file, obeyed=True, what=what)
        for file in (run["settings_ignored"] or "").splitlines():
            yield _file(file, obeyed=False, what="it came with a run")


def _file(file: str, *, obeyed: bool, what: str) -> dict[str, Any]:
    id_ = _id("settings", file, obeyed, what)
    return {"kind": "settings", "id": id_, "run": {}, "file": file, "obeyed": obeyed, "what": what}


def _named(found: Audit) -> pl.DataFrame:
    """The nodes that fail more than chance: by the scheduler's jobs, else by runs."""
    runs = found.contrasts.filter(pl.col("key").is_in(["node", "host"]), more_than_chance())
    jobs = found.accounts.filter("named", by="node").rename({"jobs": "runs", "other_jobs": "other_runs"})
    columns = ("value", "runs", "failed", "other_runs", "other_failed", "q")
    every = pl.concat([jobs.select(columns), runs.select(columns)])
    return every.unique("value", keep="first", maintain_order=True)


def _id(*parts: object) -> str:
    """Tells a finding from all others, in every scan alike."""
    return blake2b("\0".join(map(str, parts)).encode(errors="replace"), digest_size=8).hexdigest()


class File:
    """A file that findings are added to, a line each; it tells which of them stand in it already."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, lines: Sequence[str]) -> None:
        """All lines, and that they last, or none; what a killed scan left of a line is cut off. Raises OSError, and
        LogAnalystError for a device.
        """
        text = "".join(f"{line}\n" for line in lines)
        if is_stream(self.path):
            write_whole(self.path, text)
            return
        with self.path.open("ab", buffering=0) as file:
            end = _whole(self.path)
            os.truncate(file.fileno(), end)
            try:
                rest = memoryview(text.encode())
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except BaseException:
                os.truncate(file.fileno(), end)
                raise

    def told(self, ids: set[str]) -> set[str]:
        """Those of the findings `ids` that stand in the file. Raises OSError."""
        found = set[str]()
        if self.path.exists() and not is_stream(self.path):
            with self.path.open("rb") as file:
                found = {id_ for line in file if line.endswith(b"\n") and (id_ := _told(line))}
        return found & ids


def _told(line: bytes) -> str | None:
    try:
        finding = json.loads(line)
    except ValueError:
        return None
    return str(finding["id"]) if isinstance(finding, dict) and "id" in finding else None


def _whole(path: Path) -> int:
    """Bytes up to the end of the last whole line."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(end - (1 << 16), 0)
            file.seek(start)
            if (at := file.read(end - start).rfind(b"\n")) >= 0:
                return start + at + 1
            end = start
    return 0
