"""The runs below some paths that changed since they were read: one walk, one query of the state, one `stat` a file."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loganalyst import __version__, guard
from loganalyst.errors import LogAnalystError
from loganalyst.settings import Chosen
from loganalyst.sources.assemble import id_of
from loganalyst.sources.discovery.joining import Joiner
from loganalyst.sources.discovery.runs import Found, Listed, discover, listed
from loganalyst.sources.files.realpath import RealPaths
from loganalyst.store import corrections, runreading
from loganalyst.store.corrections import Corrections, Nearest
from loganalyst.store.ledger import Seal, broken
from loganalyst.store.notes import Joined, Known, Note, Print, Remembered, fingerprint
from loganalyst.store.state import State

MAX_ROOTS = 2  # runs that are noted below a folder: more are not needed to know that it holds several


@dataclass(frozen=True)
class Changed:
    """A run to read: its files with those joined to it, the note to remember, the earlier reading (`known`), the
    folders with `rules` of the user's own, and the settings `chosen` for it.
    """

    found: Found
    note: Note
    known: Known | None
    rules: tuple[Path, ...] = ()
    chosen: Chosen = Chosen()


class Settled(NamedTuple):
    """A path with nothing to read: an unchanged run (`run` is its id), a copy of the file `original`, or a path that
    could not be read (`why`).
    """

    path: str
    run: str = ""
    why: str | None = None
    original: str = ""


class Damage(NamedTuple):
    """Damage of the store: the runs that are `lost`, a function that gives the path of a big table of a run (`where`),
    and the list of `faults` that is added to.
    """

    lost: set[str]
    where: Callable[[str, str], Path]
    faults: list[str]

    def done_to(self, id_: str, path: str, written: Mapping[str, Seal]) -> bool:
        """Whether a big table of the run is damaged."""
        for name, sealed in written.items():
            if why := broken(self.where(name, id_), sealed):
                self.faults.append(f"{self.where(name, id_)}: {why}: {path} is read again")
                return True
        return False


class Below:
    """The runs at or below some `paths` by their ids, each once, from one walk: `met`, and the `logs` that may belong
    to other runs. `failed` are the paths that could not be walked. `seconds`: the time that a file may take to list its
    runs.
    """

    def __init__(self, paths: Iterable[str | Path], seconds: float | None = None) -> None:
        self.paths = list(paths)
        self.real, self.failed = RealPaths(), list[Settled]()
        self.met, self.logs = dict[str, Listed](), dict[str, Listed]()
        self._walks = dict[str, str]()  # by root: the path below which it was found first
        self.named = dict[str, list[str]]()
        for path in self.paths:
            roots = self.named.setdefault(place := os.path.realpath(path), [])
            for run in _below(path, self.failed, seconds):
                root = self.real.resolve(run.root, real=run.real)
                if root == place or len(roots) < MAX_ROOTS:
                    roots.append(root)
                (self.logs if run.log else self.met).setdefault(id_of(root), run)
                self._walks.setdefault(run.root, str(path))

    def refuse(self, targets: Iterable[str | Path | None]) -> None:
        """Raise LogAnalystError where a file or folder to be written belongs to one of these runs, or to any."""
        runs = (*self.met.values(), *self.logs.values())
        read = (guard.Read(r.root, (*r.files, *r.checkpoints), walk=self._walks[r.root]) for r in runs)
        guard.check(targets, read)


def runs(
    below: Below, state: State, *, full: bool, trusted: bool = False, damage: Damage
) -> Iterator[Changed | Settled]:
    """Every run `below`. Logs that may belong to other runs come last: they are runs only if no other run takes them.
    `full`: unchanged runs are to be read too; `trusted`: settings that lie in runs are obeyed.
    """
    real, met, logs = below.real, below.met, below.logs
    yield from below.failed
    before = {} if full else state.remembered([*met, *logs])
    for id_ in damage.lost.intersection(before):
        del before[id_]
    nearest = Nearest(corrections.folders(below.named), trusted=trusted)
    look = _Look(Joiner(_files(log, real) for log in logs.values()), state, real, nearest, damage)
    yield from (look.at(id_, run, before.get(id_)) for id_, run in met.items())
    for id_, log in logs.items():
        if not (look.taken and look.taken.issuperset(_files(log, real))):
            yield look.at(id_, log, before.get(id_))
    state.moved(look.moved)


def _files(log: Listed, real: RealPaths) -> list[str]:
    """The real paths of a log's files."""
    return [real.resolve(file, real=log.real and file == log.root) for file in log.files]


def _below(path: str | Path, failed: list[Settled], seconds: float | None) -> Iterator[Listed]:
    """The runs at or below a path; copies, and paths that cannot be read, are added to `failed`."""
    root, found_any = Path(os.path.abspath(path)), False
    try:
        for found in listed(root, seconds):
            if found.files:
                found_any = True
                yield found
            elif found.original:
                failed.append(Settled(found.root, original=found.original))
            else:
                found_any |= bool(found.unread)
                failed += [Settled(file, why=f"{file}: {why}") for file, why in found.unread]
        if not found_any:
            discover(root, by_content=False)  # raises the reason
    except (LogAnalystError, OSError) as error:
        failed.append(Settled(str(root), why=str(error)))


class _Look:
    """Compares runs with what is remembered of them. `taken` are the logs that were joined to a run; `moved` has the
    new surroundings of unchanged runs.
    """

    def __init__(self, joiner: Joiner, state: State, real: RealPaths, nearest: Nearest, damage: Damage) -> None:
        self._joiner, self._state, self._real, self._now = joiner, state, real, time.time()
        self._nearest, self._damage = nearest, damage
        self.taken = set[str]()
        self.moved: dict[str, Joined] = {}

    def at(self, id_: str, run: Listed, before: Remembered | None) -> Changed | Settled:
        corrected = self._nearest.corrections(self._real.resolve(run.root, real=run.real), is_file=run.is_file)
        if before is not None and before.why is None and self._damage.done_to(id_, run.root, before.written):
            before = None
        if before is not None and before.joined.near == self._near(run, before.joined.jobs):
            prints = _prints(run, before.joined)  # no file is opened
            if self._holds(fingerprint(_version(corrected), corrected.stamp, before.joined, prints), before):
                return self._settled(id_, run, before.joined, before)
        found, note = self._joined(id_, run, corrected)
        if before is not None and self._holds(note.fingerprint, before):
            self.moved[id_] = note.joined
            return self._settled(id_, run, note.joined, before)
        self.taken.update(note.joined.files)
        known = self._state.known(id_, note.version) if before else None
        return Changed(found, note, known, corrected.rules, corrected.chosen)

    def _near(self, run: Listed, jobs: Iterable[str]) -> str:
        return "" if run.is_file else self._joiner.near(self._real.resolve(run.root, real=run.real), jobs)

    def _holds(self, print_: str, before: Remembered) -> bool:
        return print_ == before.fingerprint and (before.until is None or before.until >= self._now)

    def _settled(self, id_: str, run: Listed, joined: Joined, before: Remembered) -> Settled:
        self.taken.update(joined.files)
        return Settled(run.root, id_, before.why)

    def _joined(self, id_: str, run: Listed, corrected: Corrections) -> tuple[Found, Note]:
        """The run with its files from elsewhere, and the note to remember."""
        found = run.found()
        whole = self._joiner.join(found)
        more = tuple(str(file) for file in whole.files[len(found.files) :])
        joined = Joined(self._near(run, whole.jobs), more, whole.basis, whole.suggested, whole.jobs)
        note = Note(id_, _version(corrected), _prints(run, joined), joined, corrected=corrected.stamp, path=run.root)
        return whole, note


def _version(corrected: Corrections) -> str:
    """The version of the program and the patterns: other patterns find other lines."""
    return f"{__version__} {corrected.patterns}" if corrected.patterns else __version__


def _prints(run: Listed, joined: Joined) -> dict[str, Print]:
    """The prints of a run's files as they are now."""
    folder = os.path.dirname(run.root) if run.is_file else run.root
    return runreading.prints(folder, (*run.files, *joined.files, *run.checkpoints))
