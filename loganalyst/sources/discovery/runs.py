"""The runs at or below a path, and the files of each: names, folders and links decide.

`walk` holds the rules, and `filenames` the kinds of files. A file is opened only if its name says nothing, and nothing
else would make its folder a run. Readers open the files later.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from loganalyst import opening
from loganalyst.errors import SourceError, nearest
from loganalyst.opening import Bounds
from loganalyst.sources import formats, unknown
from loganalyst.sources.discovery import bycontent, jobchains, rankseries, rotation, snapshots
from loganalyst.sources.discovery.copies import Copies
from loganalyst.sources.discovery.filenames import Kind, kind
from loganalyst.sources.discovery.folder import encodable
from loganalyst.sources.discovery.walk import walk
from loganalyst.sources.files import address
from loganalyst.thresholds import reading_limit

READABLE = (
    "readable are TensorBoard, W&B, MLflow, Trackio, Neptune, Comet, ClearML, Sacred, CSV, JSON, Parquet, NumPy, "
    "SLURM and text logs, and dumps of torch's flight recorder or of stacks, also compressed"
)
MAX_SHOWN = 3  # files that an error explains
_PARENT_SETTINGS = ("hparams.yaml", "hparams.yml", "hparams.json", "hyperparams.yaml", "hyperparams.json")


@dataclass(frozen=True)
class Found:
    """The files of one run: logs and configs to read, in the order of their paths (the oldest part of a rotated log
    first), and checkpoints to list.

    `root` is a folder, a file, or `FILE#RUN` for one of several runs in a file. Its real path gives the run's id, and
    files are named by their path within it. `ignored` lists what was left out on purpose, and `unread` (path, reason)
    what should have been read. `basis` says why files from elsewhere were added (see `joining`), `suggested` names
    files that may belong to the run too, and `jobs` are the job ids that its files state. No link may lead out of
    `within`, the folder that the user named (empty: the run's own folder).
    """

    files: tuple[Path, ...]
    checkpoints: tuple[Path, ...] = ()
    ignored: tuple[str, ...] = ()
    unread: tuple[tuple[Path, str], ...] = ()
    root: Path = Path()
    basis: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    within: str = ""

    def bounds(self, named: Iterable[Path] = ()) -> Bounds:
        """Where files of the run may lie; a file that the user `named` may be a link to anywhere."""
        inside = os.path.join(self.folder, "")
        elsewhere = (file for file in self.files if not str(file).startswith(inside))
        chosen = [os.path.realpath(file) for file in (*named, *((self.root,) if self.is_file else ()))]
        return opening.bounds([self.within or self.folder], [*elsewhere, *chosen])

    @property
    def folder(self) -> Path:
        """The folder that paths of the files are relative to."""
        return self.root.parent if self.is_file else self.root

    @property
    def is_file(self) -> bool:
        """Whether the run is one file, not a folder."""
        return self.root in self.files


class Listed(NamedTuple):
    """A run as the walk meets it, with paths as text: of many runs, most need no more. The fields are those of `Found`;
    all but `files` have the order of the walk.

    `log`: it is the logs of one job, which may belong to another run. `real`: its root is surely no link. `original`:
    all its metrics are copies of this file (and perhaps others), and it has no `files`.
    """

    root: str
    files: tuple[str, ...]
    checkpoints: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    log: bool = False
    real: bool = False
    within: str = ""
    original: str = ""

    @property
    def is_file(self) -> bool:
        """As `Found.is_file`."""
        return self.root in self.files

    def found(self) -> Found:
        """The same run, with paths as Path."""
        return Found(
            files=tuple(map(Path, self.files)),
            checkpoints=tuple(map(Path, sorted(self.checkpoints))),
            ignored=tuple(sorted(self.ignored)),
            unread=tuple((Path(path), why) for path, why in sorted(self.unread)),
            root=Path(self.root),
            basis=(words,) if (words := rankseries.reason(self.files)) else (),
            within=self.within,
        )


def runs(root: Path) -> Iterator[Found]:
    """The runs of `listed` as `Found`, without copies."""
    return (run.found() for run in listed(root) if not run.original)


def listed(root: Path, seconds: float | None = None) -> Iterator[Listed]:
    """Every run below the folder `root` (or the run that the file `root` is), as the walk finds it: folders in the
    order of their names, and the runs below a folder before the folder itself. No list of them is held.

    A run without files is a copy (`original`), or names in `unread` what could not be listed and belongs to no run. A
    file that holds several runs may take up to `seconds` to list them. Raises SourceError where `root` is missing or
    may not be read; a folder without runs yields none.
    """
    if not root.is_dir():
        inside = () if address.split(root)[1] else formats.runs_in(root, seconds).runs
        yield from map(_run_of_file, map(Path, inside or (root,)))
        return
    copies, settings, links, within = Copies(), _SettingsAbove(), {str(root)}, os.path.realpath(root)
    try:
        for candidate in walk(str(root), links, seconds):
            group = candidate.group
            if group.curves:
                original = copies.leave_out(group)
                if not group.curves and not group.logs:  # the walk met this run before under another name
                    yield Listed(candidate.root, (), original=original)
                    continue
            files = group.files() + (settings.files(candidate.root) if group.curves else [])
            if len(files) > 1:
                files.sort(key=rotation.order)
            # tuples: all empty ones are one object, while a group's lists, kept for each of many runs, cost time
            others = tuple(group.checkpoints), tuple(group.ignored), tuple(group.unread)
            yield Listed(candidate.root, tuple(files), *others, candidate.log, candidate.root not in links, within)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise SourceError(root, problem, "a directory with read permission is needed") from None


def discover(path: Path, *, by_content: bool = True) -> Found:
    """The files of the run at `path` (a file is a run of its own): the only run that `runs` finds there, the last job
    of a chain (`jobchains`) or, unless `by_content` is False, the only file with curves of a folder with few files.

    Raises SourceError where the path is missing, may not be read, holds nothing known, or holds several runs.
    """
    unread = list[tuple[Path, str]]()
    every = _with_files(runs(path), unread)
    first = list(islice(every, 4))
    unnamed = path.is_dir() and by_content and (not first or (len(first) == 1 and _only_settings(first[0])))
    if unnamed and (alone := _by_content(path, first[0] if first else None)):
        return alone
    if not first:
        problem = "holds no log that can be read" if any(path.iterdir()) else "is an empty directory"
        reasons = "; ".join(f"{file}: {why}" for file, why in [*unread, *_others(path)][:MAX_SHOWN])
        raise SourceError(path, problem + (f" ({reasons})" if reasons else ""), READABLE)
    if len(first) > 1:
        first += islice(every, max(jobchains.MAX_JOBS, int(reading_limit("snapshots_of_a_history"))))
        count = len(first) + sum(1 for _ in every)
        if count == len(first) and (end := jobchains.last(first) or snapshots.longest(first)):
            return end
        names = ", ".join(os.path.relpath(found.root, path if path.is_dir() else path.parent) for found in first[:3])
        problem = f"holds {count:,} runs"
        raise SourceError(path, problem, f"name one of them: {names}{', …' if count > 3 else ''}")
    return replace(first[0], unread=(*first[0].unread, *unread)) if unread else first[0]


def _by_content(folder: Path, beside: Found | None) -> Found | None:
    """The run of a folder without runs by names, if files of it hold the course of one training; with the settings
    `beside` them. Raises SourceError where there are several.
    """
    found = bycontent.courses(folder)
    if found.others and beside is None:
        names = [os.path.relpath(file, folder) for file in found.others]
        problem = f"holds {len(names)} files with curves, and nothing says that they are of one run"
        raise SourceError(
            folder, problem, f"name one of them: {', '.join(names[:MAX_SHOWN])}{', …' * (len(names) > MAX_SHOWN)}"
        )
    if not found.files:
        return None
    names = [os.path.relpath(file, folder) for file in found.files]
    what = (
        "the only file of the folder that holds curves"
        if len(names) == 1
        else "the files of the folder that hold curves"
    )
    files = tuple(sorted({*found.files, *(beside.files if beside else ())}))
    return Found(
        files=files,
        root=folder,
        basis=(f"{', '.join(names)}: {what}, by its content",),
        within=os.path.realpath(folder),
    )


def _only_settings(found: Found) -> bool:
    """Whether a run has no file that is named as one with metrics or text."""
    return not found.is_file and {kind(file.name) for file in found.files} <= {Kind.SETTINGS, Kind.TABLE}


def _others(folder: Path) -> Iterator[tuple[Path, str]]:
    """The first files of a folder without runs, and why each is not read."""
    with opening.within(opening.bounds([folder])):
        for file in sorted(file for file in folder.iterdir() if file.is_file() and encodable(file.name))[:MAX_SHOWN]:
            yield Path(file.name), unknown.of_file(file)


def _with_files(every: Iterator[Found], unread: list[tuple[Path, str]]) -> Iterator[Found]:
    """The runs that have files; what could not be read and belongs to no run is added to `unread`."""
    for found in every:
        if found.files:
            yield found
        else:
            unread += found.unread


class _SettingsAbove:
    """The settings that a logger put into the folder above a run. The last folder is remembered."""

    def __init__(self) -> None:
        self._folder, self._files = "/", list[str]()

    def files(self, root: str) -> list[str]:
        if (folder := os.path.dirname(root)) != self._folder:
            files = (os.path.join(folder, name) for name in _PARENT_SETTINGS)
            self._folder, self._files = folder, [file for file in files if os.path.isfile(file)]
        return self._files


def _run_of_file(path: Path) -> Listed:
    """The run that a file is, or one of the runs that it holds. Raises SourceError where there is no such file."""
    file, run = address.split(path)
    if not os.path.exists(file):  # unlike Path.exists it does not raise on names that are too long
        raise SourceError(path, *_missing(path))
    if why := why_unreadable(file):
        raise SourceError(path, why, "a run directory, a log file or a SLURM log is needed")
    named = [Path(inside) for inside in formats.runs_in(file).runs if inside.startswith(str(path))] if run else []
    whole = str(named[0] if len(named) == 1 else path)  # a run may be named by the beginning of its id
    return Listed(whole, (whole,), log=kind(os.path.basename(whole)) is Kind.LOG)


def _missing(path: Path) -> tuple[str, str]:
    """The problem with a path that does not exist, and what is allowed."""
    allowed = "a run directory, a log file or a SLURM log is needed"
    if str(path) == "-":
        return "no such file", "standard input is not read: name a file"
    try:
        os.lstat(path)
        return "a link that leads nowhere", allowed
    except FileNotFoundError:
        siblings = os.listdir(path.parent) if os.access(path.parent, os.R_OK) and path.parent.is_dir() else []
        return "no such file or directory", nearest(path.name, siblings) or allowed
    except OSError as error:
        return f"cannot be read ({error.strerror})", allowed


def why_unreadable(path: Path) -> str:
    """Why a path that is no folder cannot be read; empty if it can."""
    if os.path.exists(path) and not os.path.isfile(path):
        return "is no regular file"
    return "" if encodable(path.name) else "its name is not valid UTF-8"
