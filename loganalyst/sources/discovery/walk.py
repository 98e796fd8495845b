"""Walks a tree once, and yields each run in it as soon as no folder above can claim it.

A folder is a run if metrics or logs lie in it or in its parts (train/, logs/, checkpoint-500/ …). If two or more runs
lie below a folder, each is a run of its own, and only what lies in the folder itself can be a further run. If one run
lies below a folder that holds metrics, logs, checkpoints or the folder of one adapter too, the folder is that run.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from loganalyst.opening import opened
from loganalyst.sources.discovery import metricfiles, rankseries, samerecord
from loganalyst.sources.discovery.filenames import is_part, may_be_table
from loganalyst.sources.discovery.folder import Candidate, Folder, Group, scan, writers
from loganalyst.sources.discovery.jobs import by_job, job_id
from loganalyst.sources.formats import HEAD, PLAUSIBLE, likeliest, runs_in
from loganalyst.sources.text.lines import owners

MAX_LEVELS_BELOW = 3  # folders from a run up to the folder that takes it
MAX_TABLES_PROBED = 3  # tables of any content that are searched for metrics
MIN_CONFIDENCE = 0.9  # of a reader, that a table of any name holds metrics
ADAPTER_FILE = "adapter_config.json"  # of PEFT, beside the weights of an adapter
# Epoch;Train_Loss
_TABLE_OPENS = re.compile(rb"\W{0,3}(?:epochs?|steps?|iterations?|iter) ?[,;|\t].{0,500}(?:loss|acc|reward)")
MIN_TRAINING_LINES = 5  # with an epoch or step and a loss, at the head of a text


def walk(root: str, links: set[str], seconds: float | None = None) -> Iterator[Candidate]:
    """The runs below `root`. A candidate without files names what could not be listed and belongs to no run. Files that
    are links are added to `links` first. A file that holds several runs may take up to `seconds` to list them.

    Memory: one path of folders, their names, and the files of the runs that are not decided yet. Raises OSError for
    `root`.
    """
    yield from _Walk(root, links, seconds).runs()


class _Walk:
    """The folders from the root to the one being listed. A folder that was walked completely hands its runs upwards."""

    def __init__(self, root: str, links: set[str], seconds: float | None) -> None:
        self._real_root, self._links, self._seconds = os.path.realpath(root), links, seconds
        name = os.path.basename(self._real_root)
        self._open = [self._scanned(root, name, 0, "")]

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
            self._open.append(self._scanned(path, name, folder.depth + 1, mode))
        except OSError as error:
            folder.group.unread.append((path, f"cannot be read ({error.strerror})"))

    def _scanned(self, path: str, name: str, depth: int, mode: str) -> Folder:
        folder = scan(path, name, depth, mode, real_root=self._real_root, links=self._links)
        metricfiles.take(folder)
        samerecord.take(folder, _shows_training)
        return folder

    def _closed(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """The runs of a folder that was walked completely; the rest goes to the folder `above`."""
        if folder.several:
            yield from self._remains(folder, above)
        elif folder.held is not None:
            yield from self._with_one_run(folder, folder.held, above)
        elif folder.group.curves or folder.group.logs or folder.group.dumps:
            yield from self._without_runs(folder, above)
        else:
            yield from self._without_logs(folder, above)

    def _offer(self, run: Candidate) -> Iterator[Candidate]:
        """A run below the open folder: part of it, held until it is known whether it is the only one, or yielded."""
        above = self._open[-1] if self._open else None
        if above and _absorbs(above, run):
            above.group.take(run.group)
        elif above and not above.several and above.held is None:
            above.held = run
        else:
            yield from self._give(run)

    def _give(self, run: Candidate) -> Iterator[Candidate]:
        """Yield a run after those that were held above it: now all open folders hold several runs."""
        for folder in self._open:
            if folder.held:
                yield folder.held
            folder.several, folder.held = True, None
        yield run

    def _without_runs(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """A folder with metrics, logs or dumps, and no run below it."""
        group = folder.group
        text = above and above.claims and not group.curves
        if above and (text or (is_part(folder.name, above.name) and not folder.marked)):
            above.group.take(group)
        elif group.curves or _tables_hold_metrics(group):
            yield from self._offer(Candidate(folder.path, folder.depth, group, sure=folder.marked))
        else:
            for run in _text_runs(folder):
                yield from self._offer(run)

    def _with_one_run(self, folder: Folder, run: Candidate, above: Folder | None) -> Iterator[Candidate]:
        """A folder with one run below it. It is that run if it has metrics, checkpoints or the logs of one job too."""
        group, adapter = folder.group, len(folder.adapters) == 1
        own = folder.marked or group.curves or group.checkpoints or group.logs or adapter
        if own and run.depth - folder.depth <= MAX_LEVELS_BELOW and len(_jobs(group.logs)) <= 1:
            for other in (run.group, *(folder.adapters if adapter else ())):
                group.take(other)
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
        """The files of a folder with several runs below it: metrics make one run, logs make a run for each job."""
        group = folder.group
        if any(not _only_settings(path) for path, _ in group.curves):
            yield from self._give(Candidate(folder.path, folder.depth, group))
        elif group.logs or group.dumps:
            for run in _text_runs(folder):
                yield from self._give(run)
        else:
            yield from self._leave_unread(group, above)

    def _without_logs(self, folder: Folder, above: Folder | None) -> Iterator[Candidate]:
        """A folder without metrics or logs: its files belong to the folder above, if that is a run."""
        group = folder.group
        if above and (above.claims or is_part(folder.name, above.name)):
            above.group.take(group)
            above.notes += [] if above.claims else folder.notes
            return
        adapter = [path for path in group.settings if os.path.basename(path) == ADAPTER_FILE]
        if above and adapter:
            above.adapters.append(Group(settings=adapter, checkpoints=group.checkpoints))
        texts = [path for path in sorted(folder.notes) if _shows_training(path)]
        for path in texts:
            yield from self._offer(Candidate(path, folder.depth + 1, Group(logs=[path]), text=True))
        if above is None and not texts and len(folder.notes) == 1:  # the only text of a folder that the user named
            group.logs += folder.notes
        # a folder that the user named: reading it says what is wrong with it
        named = above is None and not texts and (group.tables or group.settings or group.logs)
        if named or _tables_hold_metrics(group):
            yield from self._offer(Candidate(folder.path, folder.depth, group))
        else:
            yield from self._leave_unread(group, above)

    def _leave_unread(self, group: Group, above: Folder | None) -> Iterator[Candidate]:
        """What could not be listed and belongs to no run is yielded at the end."""
        if above:
            above.group.unread += group.unread
        elif group.unread:
            yield Candidate(str(self._real_root), 0, Group(unread=group.unread))


def _absorbs(above: Folder, run: Candidate) -> bool:
    """Whether a folder that is a run by itself takes a run below it: text, and files that its own program wrote."""
    if run.sure or not above.claims:
        return False
    return run.text or above.marked or bool(above.writers & writers(run.group))


def _text_runs(folder: Folder) -> Iterator[Candidate]:
    """The runs of a folder that has only logs or dumps: one for each of several jobs, else the folder (or its only
    log). With several jobs it is unknown to which of them dumps belong, so the dumps are a run of their own.
    """
    group, jobs = folder.group, _jobs(folder.group.logs)
    is_one_log = (
        len(group.logs) == 1 and job_id(group.logs[0]) and not (group.settings or group.checkpoints or group.dumps)
    )
    if not group.logs or (len(jobs) == 1 and not is_one_log):
        yield Candidate(folder.path, folder.depth, group, sure=folder.marked, text=True)
        return
    ignored, unread = group.ignored, group.unread  # reported with the first job
    for logs in jobs:
        whole = Group(logs=logs, ignored=ignored, unread=unread)
        yield Candidate(logs[0], folder.depth + 1, whole, text=True, log=True)
        ignored, unread = [], []
    if group.dumps:
        yield Candidate(folder.path, folder.depth, Group(dumps=group.dumps), text=True)


def _jobs(logs: Sequence[str]) -> list[list[str]]:
    """The logs grouped by job; those of the ranks of one job are together."""
    together = owners.are_ranks_of_one_job([*map(Path, logs)]) or rankseries.are_of_one_job(logs)
    return [sorted(logs)] if together else by_job(logs)


def _head(path: str, size: int) -> bytes:
    try:
        with opened(path) as file:
            return file.read(size)
    except OSError:
        return b""


def _tables_hold_metrics(group: Group) -> bool:
    """Whether one of the first tables, whatever its name, has columns of metrics."""
    heads = ((path, _head(path, HEAD)) for path in sorted(group.tables)[:MAX_TABLES_PROBED])
    return any(head and likeliest(Path(path), head)[0] >= MIN_CONFIDENCE for path, head in heads)


def _shows_training(path: str) -> bool:
    """Whether it is a table of metrics, or its first lines come from a training: prose does not repeat losses."""
    head = _head(path, HEAD)
    lines = head.lower().split(b"\n")
    if head and (may_be_table(os.path.basename(path)) or _TABLE_OPENS.match(lines[0])):
        score, known = likeliest(Path(path), head)
        if score >= PLAUSIBLE and known.NAME in ("csv", "numbercolumns", "numberlists"):
            return True
    return sum((b"epoch" in line or b"step" in line) and b"loss" in line for line in lines) >= MIN_TRAINING_LINES


def _only_settings(path: str) -> bool:
    """Whether an event file only lists the settings of the runs below it (TensorBoard's hparams plugin)."""
    return "tfevents" in path and b"_hparams_/experiment" in _head(path, 4096) and os.path.getsize(path) < HEAD
