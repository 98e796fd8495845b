"""Runs that were read are judged, in several processes, and the diagnoses written to the store batch by batch."""

from collections.abc import Iterator, Sequence

import polars as pl

from loganalyst.limits import Limits
from loganalyst.processes.eachitem import Workers, each
from loganalyst.store import judgedrows
from loganalyst.store.batch import Batch
from loganalyst.store.columns import JUDGED
from loganalyst.store.judgedrows import Judged
from loganalyst.store.ledger import DamagedError
from loganalyst.store.outcome import Outcome
from loganalyst.store.tablefiles import Folder

LOADED_AT_ONCE = 100  # runs whose small tables are read together


def unjudged(folder: Folder, ids: set[str] | None) -> pl.DataFrame:
    """`run_id` and `written` (the stamp of its reading) of each run, of `ids`, that was not judged since."""
    found = folder.unjudged(judgedrows.version())
    return found if ids is None else found.filter(pl.col("run_id").is_in(list(ids)))


def judge_all(
    folder: Folder,
    ids: set[str] | None,
    *,
    into: Batch[Judged],
    processes: int,
    limits: Limits | None,
    workers: Workers | None,
) -> Iterator[Outcome]:
    """Judge the runs, of `ids`, that were not judged since they were read; diagnoses go `into` a batch. Raises
    DamagedError at the end where rows of some were missing.
    """
    broken: list[DamagedError] = []
    with into as batch:
        tasks = _tasks(folder, ids)
        for done in each(judgedrows.judge, tasks, processes, judgedrows.given_up, limits, workers=workers):
            if done.damage is not None:
                broken.append(done.damage)
                continue
            batch.add(done)
            batch.write_if_due()
            why = done.rows["diagnoses"]["why"][0]
            yield Outcome(done.task.path, "failed" if why else "judged", why or "", run=done.task.run_id)
    if broken:
        raise broken[0]


def write(folder: Folder, batch: Sequence[Judged]) -> None:
    """Put diagnoses into their place. Only for the holder of the lock."""
    folder.append(JUDGED, {name: [done.rows[name] for done in batch] for name in JUDGED})


def _tasks(folder: Folder, ids: set[str] | None) -> Iterator[judgedrows.Task]:
    for some in unjudged(folder, ids).iter_slices(LOADED_AT_ONCE):
        yield from judgedrows.tasks(folder, dict(some.select("run_id", "written").iter_rows()))
