"""Walks a tree once and gives every run in it as soon as it is sure that nothing above can claim it.

A folder is a run where metrics or logs lie in it or in its parts (train/, logs/, checkpoint-500/ …). Where two or more
runs lie below a folder, they are runs of their own and the folder is none, but for what lies in itself; a single one
is the run of the folder above it if that holds metrics, logs or checkpoints too.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from loganalyst.sources import discoverjobs
from loganalyst.sources.discoverfolder import Candidate, Folder, Group, scan, writers
from loganalyst.sources.discovernames import is_part
from loganalyst.sources.formats import HEAD, formats, likeliest

NEAR = 3  # folders between a run and the one above that takes it as its own
PROBES = 3  # tables of any content in which metrics are looked for
SURE = 0.9  # of a reader, that a table of any name holds metrics
TRAINING_LINES = 5


def walk(root: str) -> Iterator[Candidate]:
    """The runs below `root`; at the end, with no file, a candidate for what of the tree could not be listed.

    Memory: one path of folders, their names, and the files of the runs not decided on. Raises OSError for `root`.
    """
    real_root = os.path.realpath(root)
    stack = [scan(root, os.path.basename(real_root), 0, "", real_root)]
    while stack:
        top = stack[-1]
        if top.inner:
            name = top.inner.pop()
            try:
                path = os.path.join(top.path, name)
                stack.append(scan(path, name, top.depth + 1, top.mode_of(name), real_root))
            except OSError as error:
                top.group.unread.append((path, f"cannot be read ({error.strerror})"))
        else:
            stack.pop()
            yield from _closed(top, stack[-1] if stack else None)


def _closed(folder: Folder, above: Folder | None) -> Iterator[Candidate]:
    """What a folder that was walked wholly gives; the rest goes to the folder `above`."""
    for database in sorted(folder.databases):
        for run in _runs_in(Path(database)):
            yield from _offer(Candidate(run, folder.depth + 1, Group(tables=[run]), sure=True), folder)
    if folder.several:
        yield from _remains(folder, above)
    elif folder.held is not None:
        yield from _with_one(folder, folder.held, above)
    elif folder.group.curves or folder.group.logs:
        yield from _alone(folder, above)
    else:
        yield from _without(folder, above)


def _offer(run: Candidate, above: Folder | None) -> Iterator[Candidate]:
    """A run below `above`: part of it, held until it is known whether it is the only one, or given away."""
    if above is None:
        yield run
    elif _absorbs(above, run):
        above.group.take(run.group)
    elif above.several:
        yield run
    elif above.held is None:
        above.held = run
    else:
        above.several = True
        yield above.held
        yield run
        above.held = None


def _absorbs(above: Folder, run: Candidate) -> bool:
    """Whether a folder that is a run by itself takes what was found below it: text, and what its own program wrote."""
    if run.sure or not above.claims:
        return False
    return run.text or above.marked or bool(above.writers & writers(run.group))


def _is_part(folder: Folder, above: Folder | None) -> bool:
    return above is not None and not folder.marked and is_part(folder.name, above.name)


def _alone(folder: Folder, above: Folder | None) -> Iterator[Candidate]:
    """A folder with metrics or logs and no run below it."""
    group = folder.group
    if above and _is_part(folder, above):
        above.group.take(group)
        return
    if group.curves:
        yield from _offer(Candidate(folder.path, folder.depth, group, sure=folder.marked), above)
    elif above and above.claims:
        above.group.take(group)
    else:
        for run in _text_runs(folder):
            yield from _offer(run, above)


def _text_runs(folder: Folder) -> list[Candidate]:
    """The runs of a folder that has logs only: job by job where they are several, else the folder (or its one log)."""
    group, jobs = folder.group, discoverjobs.jobs(folder.group.logs)
    alone = len(group.logs) == 1 and discoverjobs.job(group.logs[0]) and not (group.settings or group.checkpoints)
    if len(jobs) == 1 and not alone:
        return [Candidate(folder.path, folder.depth, group, sure=folder.marked, text=True)]
    rest = Group(unread=group.unread, ignored=group.ignored)
    runs = [Candidate(logs[0], folder.depth + 1, Group(logs=logs), text=True) for logs in jobs]
    runs[0].group.take(rest)
    return runs


def _with_one(folder: Folder, run: Candidate, above: Folder | None) -> Iterator[Candidate]:
    """A folder with one run below it is that run if it holds metrics, checkpoints or one job's logs too."""
    group = folder.group
    own = folder.marked or group.curves or group.checkpoints or group.logs
    if own and run.depth - folder.depth <= NEAR and len(discoverjobs.jobs(group.logs)) <= 1:
        group.take(run.group)
        sure, text = folder.marked or run.sure, run.text and not group.curves
        yield from _offer(Candidate(folder.path, folder.depth, group, sure, text), above)
    elif group.logs or group.curves:
        folder.several = True
        yield run
        yield from _remains(folder, above)
    else:
        run.group.ignored += group.ignored
        run.group.unread += group.unread
        yield from _offer(run, above)


def _remains(folder: Folder, above: Folder | None) -> Iterator[Candidate]:
    """What lies in a folder with several runs below it: metrics are a run, logs are runs job by job."""
    group = folder.group
    if above and not above.several:
        above.several = True
        if above.held:
            yield above.held
            above.held = None
    if any(not _only_settings(path) for path, _ in group.curves):
        yield Candidate(folder.path, folder.depth, group)
    elif group.logs:
        yield from _text_runs(folder)
    elif above:
        above.group.unread += group.unread
    elif group.unread:
        yield Candidate(folder.path, folder.depth, Group(unread=group.unread))


def _without(folder: Folder, above: Folder | None) -> Iterator[Candidate]:
    """A folder without metrics or logs: what lies in it belongs above, if that is a run."""
    group = folder.group
    if above and (above.claims or is_part(folder.name, above.name)):
        above.group.take(group)
        return
    told = [path for path in sorted(folder.notes) if _tells_of_training(path)]
    for path in told:
        yield from _offer(Candidate(path, folder.depth + 1, Group(logs=[path]), text=True), above)
    named = above is None and not told and (group.tables or group.settings or group.unread)  # its user is told of it
    if named or any(_holds_metrics(path) for path in sorted(group.tables)[:PROBES]):
        yield from _offer(Candidate(folder.path, folder.depth, group), above)
    elif above:
        above.group.unread += group.unread


def _head(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _holds_metrics(path: str) -> bool:
    head = _head(path, HEAD)
    return bool(head) and likeliest(Path(path), head)[0] >= SURE


def _tells_of_training(path: str) -> bool:
    """Whether some of the first lines are those of a training: prose may speak of a loss, but not line after line."""
    lines = _head(path, HEAD).lower().split(b"\n")
    return sum((b"epoch" in line or b"step" in line) and b"loss" in line for line in lines) >= TRAINING_LINES


def _only_settings(path: str) -> bool:
    """Whether an event file only lists the settings of the runs below (the hparams plugin of TensorBoard)."""
    return "tfevents" in path and b"_hparams_/experiment" in _head(path, 4096) and os.path.getsize(path) < HEAD


def _runs_in(database: Path) -> tuple[str, ...]:
    """The addresses of the runs in a file that holds several."""
    head = _head(str(database), HEAD)
    for module in formats():
        if hasattr(module, "runs") and module.sniff(database, head) >= SURE:
            return tuple(f"{database}#{run}" for run in module.runs(database))
    return ()
