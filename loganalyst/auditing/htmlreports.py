"""Write an HTML report for each failed run of an audit, if the run was read or judged again since the last report."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from loganalyst.errors import LogAnalystError, StoreError
from loganalyst.limits import Limits
from loganalyst.processes.eachitem import each
from loganalyst.store import Outcome, Store, judgedrows, runrows
from loganalyst.store.tablefiles import Folder
from loganalyst.writing import write_whole

__all__ = ["linked", "write"]

FAILED_STATUSES = ("diagnosis_complete", "cause_unknown")
RUNS_PER_BATCH = 100  # runs whose small tables are looked up together
MARK = "\n<!-- loganalyst {} -->\n"  # last line of a report: run id, version, and reading it was made from
MARK_BYTES = 300  # the mark lies within the last bytes of a report


@dataclass(frozen=True)
class Task:
    """A run, the file of its report, and the mark at the end of the report."""

    run: judgedrows.Task
    file: Path
    mark: str


def write(
    store: Store, runs: pl.DataFrame, folder: Path, processes: int, limits: Limits | None = None
) -> Iterator[Outcome]:
    """Write the missing and outdated reports of failed `runs` (an audit's listing); remove our reports of other runs.

    Each outcome is `reported`, or `failed` with a reason. Raises StoreError if the folder cannot be written.
    """
    failed = pl.col("status").is_in(FAILED_STATUSES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in (_file(folder, id_) for id_ in runs.filter(~failed)["run_id"].drop_nulls()):
            if _mark(file):  # the run has recovered
                file.unlink()
    except OSError as error:
        raise StoreError(folder, f"cannot be written ({error.strerror})", "--reports takes a folder") from None
    for outcome in each(
        _report, _tasks(store, runs.filter(failed)["run_id"].to_list(), folder), processes, _died, limits
    ):
        if outcome.what == "failed":
            _file(folder, outcome.run).unlink(missing_ok=True)  # an old report would be wrong by now
        yield outcome


def linked(runs: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """`runs` with a column `report`: the path of the report, or NULL."""
    files = [_file(folder, id_) if id_ else None for id_ in runs["run_id"]]
    there = [os.path.abspath(file) if file and _mark(file) else None for file in files]
    return runs.with_columns(pl.Series("report", there, pl.String))


def _file(folder: Path, run_id: str) -> Path:
    return folder / f"{run_id}.html"


def _tasks(store: Store, ids: list[str], folder: Path) -> Iterator[Task]:
    """The runs whose report is missing or outdated: it does not end with the expected mark."""
    rows = store.diagnoses.filter(pl.col("run_id").is_in(ids)).select("run_id", "version", "reading").collect()
    marks = {id_: MARK.format(f"{id_} {version} {reading}") for id_, version, reading in rows.iter_rows()}
    readings = dict(rows.select("run_id", "reading").iter_rows())
    old = [id_ for id_ in ids if id_ in marks and _mark(_file(folder, id_)) != marks[id_]]
    for start in range(0, len(old), RUNS_PER_BATCH):
        batch = old[start : start + RUNS_PER_BATCH]
        for task in judgedrows.tasks(Folder(store.path), {id_: readings[id_] for id_ in batch}):
            yield Task(task, _file(folder, task.run_id), marks[task.run_id])


def _mark(file: Path) -> str:
    """The mark at the end of a report; empty if the file is missing or not our report."""
    with suppress(OSError), file.open("rb") as handle:
        handle.seek(max(os.path.getsize(file) - MARK_BYTES, 0))
        _, found, content = handle.read(MARK_BYTES).decode("utf-8", "replace").rpartition(MARK[: MARK.index("{")])
        return found + content if found else ""
    return ""


def _report(task: Task) -> Outcome:
    """Diagnose the run again from the store, and write its report completely or not at all."""
    from loganalyst import pipeline

    try:
        run = runrows.whole(Folder(task.run.folder), task.run.run_id, task.run.small)
        if task.file.is_symlink():  # its target is not our report
            task.file.unlink()
        write_whole(task.file, pipeline.diagnose(run).to_html() + task.mark, "--reports takes a folder")
    except (LogAnalystError, OSError) as error:
        return _died(task, str(error))
    except (Exception, pl.exceptions.PanicException) as error:  # a defect in one run must not lose the others
        return _died(task, f"{type(error).__name__}: {error}")
    return Outcome(task.run.path, "reported", run=task.run.run_id)


def _died(task: Task, why: str) -> Outcome:
    why = f"{task.run.path}: its report could not be written: {why}"
    return Outcome(task.run.path, "failed", why, run=task.run.run_id)
