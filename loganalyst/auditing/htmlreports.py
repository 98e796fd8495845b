"""A report in HTML for each run of an audit that is ill, in a folder: written where the run was read or judged anew."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from loganalyst.errors import LogAnalystError, StoreError
from loganalyst.limits import Limits
from loganalyst.processes import each
from loganalyst.store import Outcome, Store, judgedrows, runrows
from loganalyst.store.tablefiles import Folder
from loganalyst.writing import write_whole

__all__ = ["linked", "write"]

ILL = ("diagnosis_complete", "cause_unknown")
AT_ONCE = 100  # runs whose small tables are looked up together
MARK = "\n<!-- loganalyst {} -->\n"  # ends a report: what it was made of
TAIL = 300  # bytes that hold the mark


@dataclass(frozen=True)
class Task:
    """A run, the file of its report, and the mark it ends with."""

    run: judgedrows.Task
    file: Path
    mark: str


def write(
    store: Store, runs: pl.DataFrame, folder: Path, processes: int, limits: Limits | None = None
) -> Iterator[Outcome]:
    """Write what is missing or old of the ill `runs` (an audit's listing), and remove what we wrote of others.

    The outcomes are `reported`, or `failed` and why. Raises StoreError where the folder cannot be written.
    """
    ill = pl.col("status").is_in(ILL)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in (_file(folder, id_) for id_ in runs.filter(~ill)["run_id"].drop_nulls()):
            if _mark(file):  # the run has recovered
                file.unlink()
    except OSError as error:
        raise StoreError(folder, f"cannot be written ({error.strerror})", "--reports takes a folder") from None
    for outcome in each(_report, _tasks(store, runs.filter(ill)["run_id"].to_list(), folder), processes, _died, limits):
        if outcome.what == "failed":
            _file(folder, outcome.run).unlink(missing_ok=True)  # an old one would tell what is no longer so
        yield outcome


def linked(runs: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """`runs` with a column `report`: the path of the report; NULL where none is due, or none could be written."""
    files = [_file(folder, id_) if id_ else None for id_ in runs["run_id"]]
    there = [os.path.abspath(file) if file and _mark(file) else None for file in files]
    return runs.with_columns(pl.Series("report", there, pl.String))


def _file(folder: Path, run_id: str) -> Path:
    return folder / f"{run_id}.html"


def _tasks(store: Store, ids: list[str], folder: Path) -> Iterator[Task]:
    """The runs whose report does not end with the mark it should."""
    rows = store.diagnoses.filter(pl.col("run_id").is_in(ids)).select("run_id", "version", "reading").collect()
    marks = {id_: MARK.format(f"{id_} {version} {reading}") for id_, version, reading in rows.iter_rows()}
    readings = dict(rows.select("run_id", "reading").iter_rows())
    old = [id_ for id_ in ids if id_ in marks and _mark(_file(folder, id_)) != marks[id_]]
    for start in range(0, len(old), AT_ONCE):
        some = old[start : start + AT_ONCE]
        for task in judgedrows.tasks(Folder(store.path), {id_: readings[id_] for id_ in some}):
            yield Task(task, _file(folder, task.run_id), marks[task.run_id])


def _mark(file: Path) -> str:
    """The end of a report of ours; empty where there is none."""
    with suppress(OSError), file.open("rb") as handle:
        handle.seek(max(os.path.getsize(file) - TAIL, 0))
        _, found, rest = handle.read(TAIL).decode("utf-8", "replace").rpartition(MARK[: MARK.index("{")])
        return found + rest if found else ""
    return ""


def _report(task: Task) -> Outcome:
    """Judge the run again, with what the store has of it, and write its report whole or not at all."""
    from loganalyst import pipeline

    try:
        run = runrows.whole(Folder(task.run.folder), task.run.run_id, task.run.small)
        if task.file.is_symlink():  # what it leads to is none of our reports
            task.file.unlink()
        write_whole(task.file, pipeline.diagnose(run).to_html() + task.mark, "--reports takes a folder")
    except (LogAnalystError, OSError) as error:
        return _died(task, str(error))
    except (Exception, pl.exceptions.PanicException) as error:  # a defect that one run shows must not lose the others
        return _died(task, f"{type(error).__name__}: {error}")
    return Outcome(task.run.path, "reported", run=task.run.run_id)


def _died(task: Task, why: str) -> Outcome:
    why = f"{task.run.path}: its report could not be written: {why}"
    return Outcome(task.run.path, "failed", why, run=task.run.run_id)
