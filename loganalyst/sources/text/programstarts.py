"""Where a new start of the program begins in a job log: the sessions of the log as its batches pass."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.text import failedimports, requeues, startevents
from loganalyst.sources.text.firststart import FirstStart
from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.linekinds import Look
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits
from loganalyst.sources.text.startedagain import Openings
from loganalyst.sources.text.startevents import Event
from loganalyst.sources.text.starts import Starts
from loganalyst.thresholds import blame_limit


@dataclass
class Sessions:
    """Numbers the sessions of one file as its batches pass, by their events and what the first start printed."""

    starts: Starts
    first: FirstStart = field(default_factory=FirstStart)
    openings: Openings = field(default_factory=Openings)

    def state(self) -> Mapping[str, Any]:
        """The current state as plain JSON."""
        return {"starts": self.starts.state(), "first": asdict(self.first), "openings": asdict(self.openings)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Sessions":
        """The sessions that `state` described."""
        opening = {int(line): text for line, text in state["first"]["opening"].items()}  # JSON has no numbers as keys
        first = FirstStart(**{**state["first"], "opening": opening})
        return cls(Starts.from_state(state["starts"]), first, Openings(**state["openings"]))

    def number(self, chunk: Chunk, look: Look, hits: Hits, known: Catalogue) -> NDArray[np.int64]:
        """The session of each row of a batch; the patterns `known` claim the lines `hits`."""
        self.starts.decide(self._events(chunk, look, hits, known), chunk.line, chunk.line[look.flags["busy"]])
        return self.starts.at(chunk.line)

    def _events(self, chunk: Chunk, look: Look, hits: Hits, known: Catalogue) -> list[Event]:
        """What decides about sessions, in file order."""
        self.first.read(chunk, look)
        busy = chunk.line[look.flags["busy"]]
        of_jobs, marks = startevents.of_jobs(hits, known), startevents.marks(hits, known)
        others = [
            *marks,
            *startevents.continuations(hits, known),
            *self._requeued(hits, known, chunk, look),
            *self._of_exceptions(hits, known, chunk, busy),
        ]
        faults = [line for line, kind, _ in marks if kind == "fatal"]
        failure = self.starts.failure(faults)
        if failure is None:
            return sorted([*of_jobs, *others], key=itemgetter(0))
        again = self.first.again(hits, chunk, look, failure, trained=bool(self.starts.busy))
        return sorted([*of_jobs, *again, *others], key=itemgetter(0))

    def _requeued(self, hits: Hits, known: Catalogue, chunk: Chunk, look: Look) -> list[Event]:
        """Events of trainings behind a stop by the scheduler."""
        trained = requeues.trained_again(hits, known, chunk, look, self.first.first or "")
        return [(line, "requeued", str(stop)) for line, stop in trained]

    def _of_exceptions(self, hits: Hits, known: Catalogue, chunk: Chunk, busy: NDArray[np.int64]) -> list[Event]:
        """Events of exceptions that nothing caught, of those that ended a start at its imports, and of the training
        behind the latter: whoever trains has imported everything.
        """
        ended = [self.starts.imports[0]] if self.starts.imports[0] else []
        uncaught = failedimports.uncaught(hits, known, chunk)
        begins = self.openings.starts(chunk, [line for line, *_ in uncaught], busy)
        found: list[Event] = [(line, "again", None) for line in begins]
        for line, outer, imports in uncaught:
            found.append((line, "uncaught", outer))
            if imports:
                found.append((line, "imports", outer))
                ended.append(line)
        return [*found, *(event for line in ended if (event := _trained_behind(line, busy)))]


def _trained_behind(line: int, busy: NDArray[np.int64]) -> Event | None:
    """The training behind a start that ended at its imports on a line."""
    later = busy[np.searchsorted(busy, line, side="right") :]
    return (int(later[0]), "trained", str(line)) if len(later) >= blame_limit("survived_after") else None
