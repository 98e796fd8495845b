"""Changed runs are read, in several processes, and written to the store batch by batch."""

import shutil
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from loganalyst.limits import Limits
from loganalyst.processes.eachitem import Ready, Workers, each
from loganalyst.sources.filetables import BIG
from loganalyst.store import changedruns, runreading
from loganalyst.store.batch import Batch
from loganalyst.store.changedruns import Below, Damage
from loganalyst.store.columns import READ
from loganalyst.store.outcome import Outcome
from loganalyst.store.runreading import Done, Task
from loganalyst.store.state import State
from loganalyst.store.tablefiles import Folder

Work: TypeAlias = Iterator[Task | Ready[Done | Outcome]]


def work(folder: Folder, state: State, below: Below, damage: Damage, *, full: bool, trusted: bool) -> Work:
    """The runs to be read, and the outcome of those that need not be."""
    for found in changedruns.runs(below, state, full=full, trusted=trusted, damage=damage):
        if isinstance(found, changedruns.Changed):
            places = {name: folder.run_file(name, found.note.run) for name in BIG}
            temporary = folder.temporary / found.note.run
            yield Task(found.found, found.note, found.known, places, temporary, found.rules, found.chosen)
        elif found.original:
            yield Ready(Outcome(found.path, "copy", found.original))
        else:
            yield Ready(Outcome(found.path, "failed" if found.why else "unchanged", found.why or "", run=found.run))


def read_all(
    tasks: Work, into: Batch[Done], processes: int, limits: Limits | None, workers: Workers | None
) -> Iterator[Outcome]:
    """Read the runs, and yield each outcome; what was read goes `into` a batch."""
    with into as batch:
        for done in each(_read, tasks, processes, _died, limits, workers=workers):
            if isinstance(done, Done):
                batch.add(done)
            batch.write_if_due()
            yield _outcome(done) if isinstance(done, Done) else done


def write(folder: Folder, state: State, batch: Sequence[Done]) -> None:
    """Put results into their place: big tables, small ones, then the notes. Even if the process is killed in between,
    no run is taken for unchanged by mistake.
    """
    read = [done for done in batch if not done.note.why]
    if read:
        files = [(file, done.task.written[name]) for done in read for name, file in done.files.items()]
        rows = {name: [d.rows[name] for d in read if name in d.rows] for name in READ}
        folder.append(READ, rows, files, {done.note.run: done.note.known.written for done in read})
    for done in read:
        for name in done.task.written.keys() - done.files.keys():
            done.task.written[name].unlink(missing_ok=True)
    state.note([done.note for done in batch])
    for temporary in (done.task.folder for done in batch if done.task.folder.exists()):
        shutil.rmtree(temporary, ignore_errors=True)


def _read(task: Task) -> Done | Outcome:
    return runreading.read(task)


def _died(task: Task, why: str) -> Done | Outcome:
    return Outcome(str(task.found.root), "failed", f"{task.found.root}: {why}", run=task.note.run)


def _outcome(done: Done) -> Outcome:
    path = str(done.task.found.root)
    if done.note.why:
        return Outcome(path, "failed", done.note.why, run=done.note.run)
    return Outcome(path, "read", points=done.points, run=done.note.run)
