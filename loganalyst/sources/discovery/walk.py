"""Walks a tree once and gives every run in it as soon as it is sure that nothing above can claim it.

A folder is a run where metrics or logs lie in it or in its parts (train/, logs/, checkpoint-500/ …). Where two or more
runs lie below a folder, they are runs of their own and the folder is none, but for what lies in itself; a single one
is the run of the folder above it if that holds metrics, logs or checkpoints too.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from loganalyst.opening import opened
from loganalyst.sources.discovery import jobs as discoverjobs
from loganalyst.sources.discovery.filenames import is_part, may_be_table
from loganalyst.sources.discovery.folder import Candidate, Folder, Group, scan, writers
from loganalyst.sources.formats import HEAD, PLAUSIBLE, likeliest, runs_in
from loganalyst.sources.text.lines import owners

NEAR = 3  # folders between a run and the one above that takes it as its own
PROBES = 3  # tables of any content in which metrics are looked for
SURE = 0.9  # of a reader, that a table of any name holds metrics
TRAINING_LINES = 5


def walk(root: str, links: set[str], seconds: float | None = None) -> Iterator[Candidate]:
    """The runs below `root`. A candidate with no file says what could not be listed and belongs to no run. Files that
    are links are added to `links` before. A file that holds several runs may take so many `seconds` to list them.

    Memory: one path of folders, their names, and the files of the runs not decided on. Raises OSError for `root`.
    """
    yield from _Walk(root, links, seconds).runs()


class _Walk:
    """The folders from the root to the one being listed; one that was walked wholly gives what it is to that above."""

    def __init__(self, root: str, links: set[str], seconds: float | None) -> None:
        self._real_root, self._links, self._seconds = os.path.realpath(root), links, seconds
        name = os.path.basename(self._real_root)
        self._open = [scan(root, name, 0, "", real_root=self._real_root, links=links)]

    def runs(self) -> Iterator[Candidate]:
        while self._open:
            top = self._open[-1]
            if top.inner:
                self._enter(top, top.inner.pop())
            else:
                for database in sorted(top.databases):
                    found, why = runs_in(Path(database), self._seconds)
                    for run in found:
                        yield from self._offer(Candidate(run, top.depth + 1, Group(tables=[run]), sure=True))
                    if why:
                        yield Candidate(database, top.depth + 1, Group(unread=[(database, why)]))
                self._open.pop()
                yield from self._closed(top, self._open[-1] if self._open else None)

    def _enter(self, folder: Folder, name: str) -> None:
        path = os.path.join(folder.path, name)
        try:
            mode = folder.mode_of(name)
            self._open.append(scan(path, name, folder.depth + 1, mode, real_root=self._real_root, links=self._links))
        except OSError as error:
            folder.group.unread.append((path, f"cannot be read ({error.strerror})"))

    def _closed(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """What a folder that was walked wholly gives; the rest goes to the folder `above`."""
        if folder.several:
            yield from self._remains(folder, above)
        elif folder.held is not None:
            yield from self._with_one(folder, folder.held, above)
        elif folder.group.curves or folder.group.logs or folder.group.dumps:
            yield from self._alone(folder, above)
        else:
            yield from self._without(folder, above)

    def _offer(self, run: Candidate) -> Iterator[Candidate]:
        """A run below the open folder: part of it, held until it is known whether it is the only one, or given away."""
        above = self._open[-1] if self._open else None
        if above and _absorbs(above, run):
            above.group.take(run.group)
        elif above and not above.several and above.held is None:
            above.held = run
        else:
            yield from self._give(run)

    def _give(self, run: Candidate) -> Iterator[Candidate]:
        """A run for good, behind those held above it: all open folders hold several runs."""
        for folder in self._open:
            if folder.held:
                yield folder.held
            folder.several, folder.held = True, None
        yield run

    def _alone(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """A folder with metrics, logs or dumps and no run below it."""
        group = folder.group
        text = above and above.claims and not group.curves
        if above and (text or (is_part(folder.name, above.name) and not folder.marked)):
            above.group.take(group)
        elif group.curves or _tables_hold_metrics(group):
            yield from self._offer(Candidate(folder.path, folder.depth, group, sure=folder.marked))
        else:
            for run in _text_runs(folder):
                yield from self._offer(run)

    def _with_one(self, folder: Folder, run: Candidate, above: Folder | None) -> Iterator[Candidate]:
        """A folder with one run below it is that run if it holds metrics, checkpoints or one job's logs too."""
        group = folder.group
        own = folder.marked or group.curves or group.checkpoints or group.logs
        if own and run.depth - folder.depth <= NEAR and len(_jobs(group.logs)) <= 1:
            group.take(run.group)
            sure, text = folder.marked or run.sure, run.text and not group.curves
            yield from self._offer(Candidate(folder.path, folder.depth, group, sure, text))
        elif group.logs or group.curves:
            yield from self._give(run)
            yield from self._remains(folder, above)
        else:
            run.group.ignored += group.ignored
            yield from self._leave_unread(group, above)
            yield from self._offer(run)

    def _remains(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """What lies in a folder with several runs below it: metrics are a run, logs are runs job by job."""
        group = folder.group
        if any(not _only_settings(path) for path, _ in group.curves):
            yield from self._give(Candidate(folder.path, folder.depth, group))
        elif group.logs or group.dumps:
            for run in _text_runs(folder):
                yield from self._give(run)
        else:
            yield from self._leave_unread(group, above)

    def _without(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """A folder without metrics or logs: what lies in it belongs above, if that is a run."""
        group = folder.group
        if above and (above.claims or is_part(folder.name, above.name)):
            above.group.take(group)
            return
        told = [path for path in sorted(folder.notes) if _tells_of_training(path)]
        for path in told:
            yield from self._offer(Candidate(path, folder.depth + 1, Group(logs=[path]), text=True))
        named = (
            above is None and not told and (group.tables or group.settings)
        )  # its user is told what is wrong with it
        if named or _tables_hold_metrics(group):
            yield from self._offer(Candidate(folder.path, folder.depth, group))
        else:
            yield from self._leave_unread(group, above)

    def _leave_unread(self, group: Group, above: Folder | None) -> Iterator[Candidate]:
        """What could not be listed and belongs to no run is given at the end."""
        if above:
            above.group.unread += group.unread
        elif group.unread:
            yield Candidate(str(self._real_root), 0, Group(unread=group.unread))


def _absorbs(above: Folder, run: Candidate) -> bool:
    """Whether a folder that is a run by itself takes what was found below it: text, and what its own program wrote."""
    if run.sure or not above.claims:
        return False
    return run.text or above.marked or bool(above.writers & writers(run.group))


def _text_runs(folder: Folder) -> Iterator[Candidate]:
    """The runs of a folder that has logs or dumps only: job by job where they are several, else the folder (or its one
    log). Whose dumps they are is not told then: they are a run of their own.
    """
    group, jobs = folder.group, _jobs(folder.group.logs)
    alone = (
        len(group.logs) == 1
        and discoverjobs.job(group.logs[0])
        and not (group.settings or group.checkpoints or group.dumps)
    )
    if not group.logs or (len(jobs) == 1 and not alone):
        yield Candidate(folder.path, folder.depth, group, sure=folder.marked, text=True)
        return
    ignored, unread = group.ignored, group.unread  # told of the first
    for logs in jobs:
        whole = Group(logs=logs, ignored=ignored, unread=unread)
        yield Candidate(logs[0], folder.depth + 1, whole, text=True, log=True)
        ignored, unread = [], []
    if group.dumps:
        yield Candidate(folder.path, folder.depth, Group(dumps=group.dumps), text=True)


def _jobs(logs: Sequence[str]) -> list[list[str]]:
    """The logs job by job; those of the ranks of one job are together."""
    return [sorted(logs)] if owners.are_ranks_of_one_job([*map(Path, logs)]) else discoverjobs.jobs(logs)


def _head(path: str, size: int) -> bytes:
    try:
        with opened(path) as file:
            return file.read(size)
    except OSError:
        return b""


def _tables_hold_metrics(group: Group) -> bool:
    """Whether one of the first tables, whatever its name, has columns of metrics."""
    heads = ((path, _head(path, HEAD)) for path in sorted(group.tables)[:PROBES])
    return any(head and likeliest(Path(path), head)[0] >= SURE for path, head in heads)


def _tells_of_training(path: str) -> bool:
    """Whether it is a table of metrics, or its first lines are a training's: prose tells no loss line after line."""
    head = _head(path, HEAD)
    lines = head.lower().split(b"\n")
    if may_be_table(os.path.basename(path)) and head:
        score, known = likeliest(Path(path), head)
        if score >= PLAUSIBLE and known.NAME == "csv":
            return True
    return sum((b"epoch" in line or b"step" in line) and b"loss" in line for line in lines) >= TRAINING_LINES


def _only_settings(path: str) -> bool:
    """Whether an event file only lists the settings of the runs below (the hparams plugin of TensorBoard)."""
    return "tfevents" in path and b"_hparams_/experiment" in _head(path, 4096) and os.path.getsize(path) < HEAD
