"""The guard of runs: the program never writes into a run. Every option that writes asks here first.

These targets are refused: a path inside the folder of a named run; a file of such a run (also by a link, or by another
name of the same file); and a path inside a folder that a logger marked as a run, named or not. A folder that holds
several runs is no run: a report may lie next to them.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loganalyst.errors import LogAnalystError
from loganalyst.writing import is_stream

if TYPE_CHECKING:
    from loganalyst.model import Run

__all__ = ["Read", "check", "named", "of_run"]

MAX_LEVELS_ABOVE = 4  # folders above a target that are searched for the files of a logger
WRITTEN_BY_TRAININGS = (".wandb", ".ckpt", ".pt", ".pth", ".safetensors", ".distcp", ".db", ".sqlite", ".sqlite3")
Identity = tuple[int, int]  # device and inode: the same for all names of a file


class Read(NamedTuple):
    """A run that was read or will be read (or another thing, `what`): its `root` (a folder, a file or FILE#RUN) and its
    `files`.

    `walk` names the walk that found it, if any: runs that one walk found separately are separate runs.
    """

    root: str
    files: tuple[str, ...] = ()
    what: str = "run"
    walk: str = ""


def check(targets: Iterable[str | Path | None], read: Iterable[Read] = ()) -> None:
    """Raise LogAnalystError where a file or folder to be written belongs to what was `read`, or lies in any run.

    The error names the run and a path that is allowed. None, devices and FIFOs are skipped.

    >>> check([Path("report.md"), None], [Read("experiments/run1")])
    """
    wanted = [_Target(Path(target)) for target in targets if target is not None and not is_stream(Path(target))]
    if not wanted:
        return
    runs = list(read)
    _refuse_folders(wanted, runs)
    _refuse_files([target for target in wanted if target.file], runs)
    for target in wanted:
        _refuse_marked(target, runs)


def named(paths: Iterable[str | Path], logs: Sequence[Path] = (), *, separate: bool = False) -> Iterator[Read]:
    """The runs at or below `paths`, each with the job `logs` and the other files that are read with it. No file is
    read.

    A path that cannot be read counts by its name; reading it reports the reason.
    """
    from loganalyst.sources.discovery.joining import Joiner
    from loganalyst.sources.discovery.runs import Found, runs

    for path in paths:
        found = list[Found]()
        try:
            found += runs(Path(path))
            found = [Joiner().join(found[0])] if len(found) == 1 and not separate else found
        except (LogAnalystError, OSError):
            found = found or [Found((), root=Path(path))]
        for run in found or [Found((), root=Path(path))]:
            yield Read(str(run.root), tuple(map(str, (*run.files, *run.checkpoints, *logs))), walk=str(path))
        if above := _marked_above(os.path.realpath(path), [Read(str(path))]):  # such as the run of a checkpoint
            yield Read(above)


def of_run(run: "Run") -> Read:
    """A run that was read, with all its files, also those that lie elsewhere."""
    folder = run.path if run.path.is_dir() else run.path.parent
    inner = [*(source.path for source in run.sources), *run.checkpoints["path"]]
    return Read(str(run.path), tuple(str(folder / path) for path in inner))


class _Target:
    """A path to be written, with everything that identifies it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.real = os.path.realpath(path)
        self.around = _lineage(self.real)
        self.paths = {self.real, os.path.abspath(path), *map(str, Path(self.real).parents)}
        self.file = os.stat(self.real) if os.path.isfile(self.real) else None

    def within(self, root: str, identity: Identity | None) -> bool:
        """Whether it is `root` or lies below it."""
        return identity in self.around if identity else os.path.abspath(root) in self.paths


def _refuse_folders(targets: Sequence[_Target], runs: Sequence[Read]) -> None:
    around = {identity for target in targets for identity in target.around}
    near = [(run, found) for run in runs if (found := _identity(_file(run.root))) in around or found is None]
    for run, found in near:
        for target in targets:
            if target.within(_file(run.root), found) and not _holds_others(run, runs):
                raise _inside(target.path, run)


def _refuse_files(targets: Sequence[_Target], runs: Sequence[Read]) -> None:
    """Raise where an existing target is one of the files, under any name."""
    known = {(target.file.st_dev, target.file.st_ino): target for target in targets if target.file}
    linked = any(target.file and target.file.st_nlink > 1 for target in targets)
    for run in runs if known else ():
        for file in _every_file(run) if linked else (_file(run.root), *_run_files(run)):
            target = known.get(_identity(file) or (0, 0))
            if target is not None:
                raise _same(target.path, file, run)


def _refuse_marked(target: _Target, runs: Sequence[Read]) -> None:
    """Raise where the files or names of a logger show that the target lies in a run, or is a file of one."""
    name = os.path.basename(target.real).lower()
    if target.file and target.file.st_size and ("tfevents" in name or name.endswith(WRITTEN_BY_TRAININGS)):
        raise LogAnalystError(target.path, "is, by its name, a file that a training wrote", "take another name")
    if above := _marked_above(target.real, runs):
        raise _inside(target.path, Read(above))


def _every_file(run: Read) -> Iterator[str]:
    """The files that were read, and all files in the folder of the run."""
    yield from (_file(run.root), *_run_files(run))
    for folder, _, names in os.walk(run.root):
        yield from (os.path.join(folder, name) for name in names)


def _run_files(run: Read) -> Iterator[str]:
    """The files of a run; for a database with its change logs."""
    from loganalyst.sources.files.address import CHANGE_LOGS

    for file in map(_file, run.files):
        yield file
        if file.endswith((".db", ".sqlite", ".sqlite3")):
            yield from (file + end for end in CHANGE_LOGS)


def _holds_others(run: Read, runs: Sequence[Read]) -> bool:
    """Whether the same walk found other runs in its folder: then only its files belong to the run."""
    inside = os.path.join(os.path.realpath(run.root), "")
    others = (other for other in runs if run.walk and other.walk == run.walk and other.root != run.root)
    return any(os.path.realpath(_file(other.root)).startswith(inside) for other in others)


def _file(root: str) -> str:
    """The file or folder that `FILE#RUN` or a path names."""
    if "#" not in root:
        return root
    from loganalyst.sources.files import address

    return str(address.split(Path(root))[0])


def _marked_above(real: str, runs: Sequence[Read]) -> str:
    """The nearest folder above a path that a logger marked as a run, of the first MAX_LEVELS_ABOVE that exist. Empty if
    there is none.
    """
    there = (str(folder) for folder in Path(real).parents if folder.is_dir())
    return next((folder for folder in islice(there, MAX_LEVELS_ABOVE) if _marked(Path(folder), runs)), "")


def _marked(folder: Path, runs: Sequence[Read]) -> bool:
    """Whether the files or names of a logger show that this folder is a run. If one of the `runs` is a single file in
    it, that file and the folder's name do not count: a report may lie next to the file.
    """
    from loganalyst.sources.discovery.folder import scan

    try:
        found = scan(str(folder), folder.name, 0, "", real_root=str(folder), links=set(), folder_links=False)
    except OSError:
        return False
    signs = [path for path, _ in found.group.curves if path.endswith(".wandb") or "tfevents" in os.path.basename(path)]
    if not (found.marked or signs):
        return False
    roots = map(os.path.realpath, map(_file, (run.root for run in runs)))
    alone = {root for root in roots if os.path.dirname(root) == str(folder) and os.path.isfile(root)}
    return bool({*map(os.path.realpath, signs)} - alone) if alone else True


def _identity(path: str) -> Identity | None:
    """Device and inode. None if the file does not exist, or the file system has no inodes."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else None


def _lineage(real: str) -> tuple[Identity, ...]:
    """The identities of the existing folders above a path, the highest first, and of the path."""
    found = map(_identity, [*map(str, reversed(Path(real).parents)), real])
    return tuple(identity for identity in found if identity)


def _inside(target: Path, run: Read) -> LogAnalystError:
    root = Path(os.path.abspath(_file(run.root)))
    if os.path.isfile(root):
        return _same(target, str(root), run)
    outside = root.parent / os.path.basename(target)
    return LogAnalystError(
        target, f"lies inside the {run.what} {root}", f"nothing is written there; allowed is a place outside: {outside}"
    )


def _same(target: Path, file: str, run: Read) -> LogAnalystError:
    what = "" if _file(run.root) == file else f" of the {run.what} {_file(run.root)}"
    return LogAnalystError(target, f"is the file {file}{what}", "files of a run are never changed; take another name")
