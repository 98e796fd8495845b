"""Diagnoses of runs as rows of the store's small tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst import __version__, rulefiles
from loganalyst.errors import LogAnalystError
from loganalyst.model import Cause, Diagnosis, Features, Run, Witness, table
from loganalyst.store import runrows
from loganalyst.store.ledger import DamagedError
from loganalyst.store.runrows import Small, of_run
from loganalyst.store.tablefiles import Folder, schema


@dataclass(frozen=True)
class Task:
    """A run to judge: the store's folder, the run's rows of the small tables, and the stamp of its reading."""

    folder: Path
    run_id: str
    small: Small
    reading: int

    @property
    def path(self) -> str:
        """The path of the run."""
        return str(self.small["runs"]["path"][0])


@dataclass(frozen=True)
class Judged:
    """The result: the status of the diagnosis and the rows of each judged table; or the `damage` that prevents it."""

    task: Task
    status: str
    rows: Mapping[str, pl.DataFrame]
    damage: DamagedError | None = None


@cache
def version() -> str:
    """The version of the program and its rules. Diagnoses of another version are made again."""
    return f"{__version__} {rulefiles.our_digest()}"


def tasks(folder: Folder, readings: Mapping[str, int]) -> Sequence[Task]:
    """The runs to judge; `readings` maps their ids to the stamps of their readings."""
    found = runrows.small(folder, list(readings))
    return [Task(folder.path, id_, rows, readings[id_]) for id_, rows in found.items()]


def judge(task: Task) -> Judged:
    """Judge one run. If that fails, its diagnosis has the status `unreadable`."""
    from loganalyst import pipeline

    try:
        return _judged(task, pipeline.diagnose(runrows.whole(Folder(task.folder), task.run_id, task.small)))
    except DamagedError as error:
        return Judged(task, "unreadable", {}, error)
    except LogAnalystError as error:
        return given_up(task, str(error))
    except (
        Exception,
        pl.exceptions.PanicException,
    ) as error:  # a defect that shows in one run must not lose the others
        return given_up(task, f"{task.path}: {type(error).__name__}: {error}")


def given_up(task: Task, why: str) -> Judged:
    """A run that could not be judged. It is judged again when it, the program or the rules change."""
    run = Run(id=task.run_id, path=Path(task.path), name=Path(task.path).name)
    return _judged(task, Diagnosis(run=run, status="unreadable", confidence=1.0, summary={"why": why}))


def _judged(task: Task, diagnosis: Diagnosis) -> Judged:
    return Judged(task, diagnosis.status, rows(diagnosis, version(), task.reading))


def rows(diagnosis: Diagnosis, version: str, reading: int) -> Mapping[str, pl.DataFrame]:
    """The diagnosis as one frame for each judged table; unknown columns may be missing. `reading` is the stamp of the
    reading that was judged.
    """
    run_id = diagnosis.run.id
    seen = diagnosis.features.witnesses
    columns = {name: [getattr(w, name) for w in seen.values()] for name in Witness.__dataclass_fields__}
    whole = {
        "run_id": run_id,
        "status": diagnosis.status,
        "confidence": diagnosis.confidence,
        **(_cause(diagnosis.causes[0]) if diagnosis.causes else {}),
        "why": diagnosis.summary.get("why"),
        "restart": diagnosis.restart.verdict if diagnosis.restart else None,
        "accepted": list(diagnosis.ignored_findings),
        "settings_obeyed": [f"{s.file}: {s.what}" for s in diagnosis.settings_obeyed],
        "settings_ignored": [s.file for s in diagnosis.settings_ignored],
        "json": diagnosis.to_json(indent=None),
        "version": version,
        "reading": reading,
    }
    return {
        "features": _features(run_id, diagnosis.features),
        "feature_sources": of_run(run_id, table("feature_sources", {"feature": list(seen), **columns})),
        "findings": of_run(run_id, diagnosis.findings),
        "diagnoses": pl.DataFrame([whole], schema=schema("diagnoses")),
    }


def _features(run_id: str, found: Features) -> pl.DataFrame:
    """A row with the known features only: most features are unknown, and each column costs time."""
    known = {name: value for name, value in found.values.items() if value is not None}
    dtypes = schema("features")
    return pl.DataFrame([pl.Series(n, [value], dtype=dtypes[n]) for n, value in {"run_id": run_id, **known}.items()])


def _cause(cause: Cause) -> dict[str, Any]:
    """The columns of the first cause; `says` is its strongest evidence."""
    texts = [e.text for e in cause.evidence if e.holds]
    return {
        "label": cause.label, "cause": cause.id, "issue": cause.issue, "severity": cause.severity,
        "verdict": cause.verdict, "step": cause.onset_step, "file": cause.file, "line": cause.line, "node": cause.node,
        "says": texts[0] if texts else None, "origin": cause.origin,
    }  # fmt: skip
