"""Which runs below some paths changed since they were read: one walk, one look into the memory, a `stat` a file."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loganalyst import __version__
from loganalyst.errors import LogAnalystError
from loganalyst.sources.assemble import id_of
from loganalyst.sources.discover import Found, Listed, discover, listed
from loganalyst.sources.discovery.names import Kind, kind
from loganalyst.sources.joining import Joiner
from loganalyst.sources.realpath import RealPaths
from loganalyst.store import reading
from loganalyst.store.corrections import Corrections, Nearest
from loganalyst.store.state import Joined, Known, Note, Remembered, State


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


def runs(paths: Iterable[str | Path], state: State, *, full: bool) -> Iterator[Changed | Settled]:
    """Every run at or below `paths` once; logs that may belong to others last, for each is a run of its own only where
    no other takes it. `full`: unchanged ones are to be read too.
    """
    real, failed = RealPaths(), list[Settled]()
    met, logs = dict[str, _Met](), dict[str, _Met]()
    for run in (run for path in paths for run in _below(path, failed)):
        place = real.of(run.root)
        (logs if _is_log(run) else met).setdefault(id_of(place), _Met(run, place))
    yield from failed
    before = {} if full else state.remembered([*met, *logs])
    look = _Look(Joiner(log.files(real) for log in logs.values()), state)
    yield from (look.at(id_, run, before.get(id_)) for id_, run in met.items())
    for id_, log in logs.items():
        if not look.taken.issuperset(log.files(real)):
            yield look.at(id_, log, before.get(id_))
    state.moved(look.moved)


class _Met(NamedTuple):
    """A run, and the real path of its root."""

    run: Listed
    real: str

    def files(self, real: RealPaths) -> list[str]:
        """The real paths of the files of a run that is one of them."""
        return [self.real if file == self.run.root else real.of(file) for file in self.run.files]


def _is_log(run: Listed) -> bool:
    """Whether the run is a log alone, which may belong to another run."""
    return run.alone and all(kind(os.path.basename(file)) is Kind.LOG for file in run.files)


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

    def __init__(self, joiner: Joiner, state: State) -> None:
        self._joiner, self._state, self._now = joiner, state, time.time()
        self._nearest = Nearest()
        self.taken = set[str]()
        self.moved: dict[str, Joined] = {}

    def at(self, id_: str, met: _Met, before: Remembered | None) -> Changed | Settled:
        corrected = self._nearest.of(met.real)
        if before is not None and before.joined.near == self._near(met, before.joined.jobs):
            note = _note(id_, met.run, before.joined, corrected)  # nothing need be opened
            if self._holds(note, before):
                return self._settled(met, note, before)
        found, note = self._joined(id_, met, corrected)
        if before is not None and self._holds(note, before):
            self.moved[id_] = note.joined
            return self._settled(met, note, before)
        self.taken.update(note.joined.files)
        return Changed(found, note, self._state.known(id_, note.version) if before else None, corrected.rules)

    def _near(self, met: _Met, jobs: Iterable[str]) -> str:
        return "" if met.run.alone else self._joiner.near(met.real, jobs)

    def _holds(self, note: Note, before: Remembered) -> bool:
        return note.fingerprint == before.fingerprint and (before.until is None or before.until >= self._now)

    def _settled(self, met: _Met, note: Note, before: Remembered) -> Settled:
        self.taken.update(note.joined.files)
        return Settled(met.run.root, note.run, before.why)

    def _joined(self, id_: str, met: _Met, corrected: Corrections) -> tuple[Found, Note]:
        """The run with files from elsewhere that are its own, and what to remember of it."""
        found = met.run.found()
        whole = self._joiner.join(found)
        more = tuple(str(file) for file in whole.files[len(found.files) :])
        joined = Joined(self._near(met, whole.jobs), more, whole.basis, whole.suggested, whole.jobs)
        return whole, _note(id_, met.run, joined, corrected)


def _note(id_: str, run: Listed, joined: Joined, corrected: Corrections) -> Note:
    """What to remember of a run, by the files as they are now."""
    version = " ".join(filter(None, (__version__, corrected.patterns)))  # other patterns read other lines
    folder = os.path.dirname(run.root) if run.alone else run.root
    prints = reading.prints(folder, (*run.files, *joined.files, *run.group.checkpoints))
    return Note(id_, version, prints, joined, corrected=corrected.stamp)
