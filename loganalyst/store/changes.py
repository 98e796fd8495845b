"""Which runs below some paths changed since they were read: one walk, one look into the memory, a `stat` a file."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loganalyst import __version__, guard
from loganalyst.errors import LogAnalystError
from loganalyst.sources.assemble import id_of
from loganalyst.sources.discover import Found, Listed, discover, listed
from loganalyst.sources.joining import Joiner
from loganalyst.sources.realpath import RealPaths
from loganalyst.store import reading
from loganalyst.store.corrections import Corrections, Nearest
from loganalyst.store.state import Joined, Known, Note, Print, Remembered, State, fingerprint


@dataclass(frozen=True)
class Changed:
    """A run to read: its files with those joined to it, what to remember of it, what is `known` of it, and the folders
    with `rules` of the user's own.
    """

    found: Found
    note: Note
    known: Known | None
    rules: tuple[Path, ...] = ()


class Settled(NamedTuple):
    """A path with nothing to read: an unchanged run (`run` is its id), or `why` it could not be read."""

    path: str
    run: str
    why: str | None


class Below:
    """The runs at or below some `paths` by their ids, each once, as one walk finds them: `met`, and the `logs` that may
    belong to others. `failed` are the paths that could not be walked.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self.paths = list(paths)
        self.real, self.failed = RealPaths(), list[Settled]()
        self.met, self.logs = dict[str, Listed](), dict[str, Listed]()
        self._walks = dict[str, str]()  # of each root, the path below which it was found first
        for path, run in ((named, run) for named in self.paths for run in _below(named, self.failed)):
            kind = self.logs if run.log else self.met
            kind.setdefault(id_of(self.real.of(run.root, real=run.real)), run)
            self._walks.setdefault(run.root, str(path))

    def refuse(self, targets: Iterable[str | Path | None]) -> None:
        """Raise LogAnalystError where a file or folder to be written belongs to one of these runs, or to any."""
        runs = (*self.met.values(), *self.logs.values())
        read = (guard.Read(r.root, (*r.files, *r.checkpoints), walk=self._walks[r.root]) for r in runs)
        guard.check(targets, read)


def runs(below: Below, state: State, *, full: bool) -> Iterator[Changed | Settled]:
    """Every run `below`; logs that may belong to others last, for each is a run of its own only where no other takes
    it. `full`: unchanged ones are to be read too.
    """
    real, met, logs = below.real, below.met, below.logs
    yield from below.failed
    before = {} if full else state.remembered([*met, *logs])
    look = _Look(Joiner(_files(log, real) for log in logs.values()), state, real)
    yield from (look.at(id_, run, before.get(id_)) for id_, run in met.items())
    for id_, log in logs.items():
        if not (look.taken and look.taken.issuperset(_files(log, real))):
            yield look.at(id_, log, before.get(id_))
    state.moved(look.moved)


def _files(log: Listed, real: RealPaths) -> list[str]:
    """The real paths of a log's files."""
    return [real.of(file, real=log.real and file == log.root) for file in log.files]


def _below(path: str | Path, failed: list[Settled]) -> Iterator[Listed]:
    """The runs at or below a path; what keeps it from being read is added to `failed`."""
    root, some = Path(os.path.abspath(path)), False
    try:
        for found in listed(root):
            if found.files:
                some = True
                yield found
        if not some:
            discover(root)  # which says why
    except (LogAnalystError, OSError) as error:
        failed.append(Settled(str(root), "", str(error)))


class _Look:
    """Compares runs with what is remembered of them. `taken` are the logs that were joined to one, `moved` is what to
    remember anew of what lies near runs that are unchanged.
    """

    def __init__(self, joiner: Joiner, state: State, real: RealPaths) -> None:
        self._joiner, self._state, self._real, self._now = joiner, state, real, time.time()
        self._nearest = Nearest()
        self.taken = set[str]()
        self.moved: dict[str, Joined] = {}

    def at(self, id_: str, run: Listed, before: Remembered | None) -> Changed | Settled:
        corrected = self._nearest.of(self._real.of(run.root, real=run.real), alone=run.alone)
        if before is not None and before.joined.near == self._near(run, before.joined.jobs):
            prints = _prints(run, before.joined)  # nothing need be opened
            if self._holds(fingerprint(_version(corrected), corrected.stamp, before.joined, prints), before):
                return self._settled(id_, run, before.joined, before)
        found, note = self._joined(id_, run, corrected)
        if before is not None and self._holds(note.fingerprint, before):
            self.moved[id_] = note.joined
            return self._settled(id_, run, note.joined, before)
        self.taken.update(note.joined.files)
        return Changed(found, note, self._state.known(id_, note.version) if before else None, corrected.rules)

    def _near(self, run: Listed, jobs: Iterable[str]) -> str:
        return "" if run.alone else self._joiner.near(self._real.of(run.root, real=run.real), jobs)

    def _holds(self, print_: str, before: Remembered) -> bool:
        return print_ == before.fingerprint and (before.until is None or before.until >= self._now)

    def _settled(self, id_: str, run: Listed, joined: Joined, before: Remembered) -> Settled:
        self.taken.update(joined.files)
        return Settled(run.root, id_, before.why)

    def _joined(self, id_: str, run: Listed, corrected: Corrections) -> tuple[Found, Note]:
        """The run with files from elsewhere that are its own, and what to remember of it."""
        found = run.found()
        whole = self._joiner.join(found)
        more = tuple(str(file) for file in whole.files[len(found.files) :])
        joined = Joined(self._near(run, whole.jobs), more, whole.basis, whole.suggested, whole.jobs)
        note = Note(id_, _version(corrected), _prints(run, joined), joined, corrected=corrected.stamp)
        return whole, note


def _version(corrected: Corrections) -> str:
    """Of what reads a run: other patterns read other lines."""
    return f"{__version__} {corrected.patterns}" if corrected.patterns else __version__


def _prints(run: Listed, joined: Joined) -> dict[str, Print]:
    """Of a run's files, as they are now."""
    folder = os.path.dirname(run.root) if run.alone else run.root
    return reading.prints(folder, (*run.files, *joined.files, *run.checkpoints))
