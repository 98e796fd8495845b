"""Which events of a job log begin a new start of the program: restarts, requeues, jobs appended to one file."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.text.sessionends import Session
from loganalyst.sources.text.startevents import Event

MAX_SESSIONS = 1 << 14  # starts of a file that become sessions; each costs memory, and the report lists it


@dataclass
class Starts:
    """The sessions of one file (from 0), as the events of its batches pass. A start mark counts after a failure, or
    where the session already had it and trained since. A weak mark (a fresh bar, the file's first line, its set-up
    lines) counts only after a failure.

    A failure of a session that showed no start and no training before it does not count: the marks behind it may be
    those of the same start. Errors are written at once, while what the program printed before waits in a buffer.
    """

    all: list[Session]
    begun: int = 1  # the line of the last start, one beyond MAX_SESSIONS too
    busy: int = 0  # the last line with a loss
    fatal: int = 0
    failed: int = 0  # the last failure that counts
    died: tuple[int, str] = (0, "")  # the last exception that nothing caught: its line, and `outer` of it
    imports: tuple[int, str] = (0, "")  # the last start that ended at its imports: its line, and `outer` of it
    job_line: int = 0
    report: tuple[int, str] = (0, "")  # LSF's report of a job: its first line, and the job
    more: int = 0  # starts beyond MAX_SESSIONS: their lines belong to the last session
    _copies: list[dict[str, Any]] = field(default_factory=list, init=False)  # of sessions, as `state` returned them
    _same: int = field(default=0, init=False)  # how many of the copies are still valid

    def state(self) -> dict[str, Any]:
        """The current state as plain JSON."""
        # called after each batch: copies only the sessions that may have changed since
        copies = ({name: copy(value) for name, value in vars(one).items()} for one in self.all[self._same :])
        self._copies[self._same :] = copies
        self._same = len(self.all)
        state = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**state, "all": list(self._copies)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Starts":
        """The sessions that `state` described."""

        def copied(one: Mapping[str, Any]) -> dict[str, Any]:
            faults = {part: tuple(fault) for part, fault in one["faults"].items()}
            own = {name: copy(one[name]) for name in ("seen", "caught", "last_caught", "apart", "own")}
            return {**one, **own, "faults": faults}

        every = [Session(**copied(s)) for s in state["all"]]
        pairs = {name: tuple(state[name]) for name in ("report", "died", "imports")}
        return cls(**{**state, **pairs, "all": every})

    def holding(self, line: int) -> int:
        """The number of the session that holds a line, found without a look at all earlier ones."""
        return max(bisect_right(self.all, line, key=attrgetter("first_line")) - 1, 0)

    def at(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """The session of each line number."""
        if len(self.all) == 1 or not len(lines):
            return np.zeros(len(lines), np.int64)
        low = self.holding(int(lines.min()))
        starts = [s.first_line for s in self.all[low:]]
        return low + np.maximum(np.searchsorted(starts, lines, side="right") - 1, 0)

    def failure(self, faults: Sequence[int]) -> int | None:
        """The line behind which what comes again shows a start, in a batch with `faults` on these lines; None: no
        failure precedes it.
        """
        if not faults and self.fatal < self.all[-1].first_line:
            return None
        return self.fatal if self.fatal >= self.begun else min(faults, default=self.fatal)

    def decide(self, events: Sequence[Event], lines: NDArray[np.int64], busy: NDArray[np.int64]) -> None:
        """Pass the events of a batch, in the order of its `lines`; `busy` are those with a loss."""
        self._same = min(self._same, self.holding(int(lines[0])) if len(lines) else self._same)
        handlers = {
            "job": self._job, "strong": self._strong, "weak": self._weak, "fatal": self._fatal, "opened": self._opened,
            "banner": self._job_banner, "report": self._report, "output": self._output, "requeued": self._requeued,
            "uncaught": self._uncaught, "imports": self._ended_at_imports, "trained": self._trained,
            "counted": self._counted, "continued": self._continued, "again": self._again,
        }  # fmt: skip
        befores = np.searchsorted(busy, [line for line, _, _ in events]).tolist()
        for (line, kind, detail), before in zip(events, befores, strict=True):
            self.busy = int(busy[before - 1]) if before else self.busy
            handlers[kind](line, detail)
        self.busy = int(busy[-1]) if len(busy) else self.busy

    def _fatal(self, line: int, _detail: str | None) -> None:
        self.fatal = line
        if self.all[-1].seen or self.begun <= self.busy:
            self.failed = line

    def _strong(self, line: int, pattern: str | None) -> None:
        trained = pattern in self.all[-1].seen and self.begun <= self.busy < line
        if trained or self.begun <= self.failed < line:
            self._start(line)
        self._see(pattern)

    def _see(self, pattern: str | None) -> None:
        if pattern and pattern not in self.all[-1].seen:
            self.all[-1].seen.append(pattern)

    def _weak(self, line: int, pattern: str | None) -> None:
        """`pattern` is None for the file's first line, which shows a start."""
        if self.begun <= (self.failed if pattern else self.fatal) < line:
            self._start(line)
        self._see(pattern)

    def _opened(self, line: int, _detail: str | None) -> None:
        """The set-up lines come again behind a failure, before any training: the first ones waited in no buffer."""
        if self.begun <= self.fatal < line and self.busy <= self.fatal:
            self._start(line)

    def _continued(self, line: int, _detail: str | None) -> None:
        """Behind a failure of a start that trained, the program continues from its checkpoint."""
        if self.begun <= self.busy < line and self.begun <= self.failed < line:
            self._start(line)

    def _counted(self, line: int, _detail: str | None) -> None:
        """Training counts from lower numbers again. LSF's reports separate jobs by their own words."""
        if self.begun <= self.fatal < line and not self.report[0]:
            self._start(line)

    def _job(self, line: int, job: str | None) -> None:
        """Another job's number: its lines begin behind the last mention of the job before."""
        if self._is_other(job):
            self._start(self.job_line + 1)
        self.all[-1].job, self.job_line = job, line

    def _job_banner(self, line: int, job: str | None) -> None:
        """The number of a job, printed at its start: another job begins here."""
        if self._is_other(job):
            self._start(line)
        self.all[-1].job, self.job_line = job, line

    def _is_other(self, job: str | None) -> bool:
        return self.all[-1].job not in (None, job) and self.job_line >= self.all[-1].first_line

    def _requeued(self, _line: int, stopped: str | None) -> None:
        """Training goes on behind the line `stopped`, where the scheduler stopped the job."""
        if self.all[-1].first_line <= int(stopped or 0):
            self._start(int(stopped or 0) + 1)

    def _uncaught(self, line: int, outer: str | None) -> None:
        """A program dies once: training lies between two such exceptions from other lines of the script. Or the script
        that ended at its imports came farther: it was repaired and started again.
        """
        died, before = self.died
        self.died = line, outer or ""
        if self.begun <= died < self.busy - 1 and before != outer:
            self._start(self.busy + 1)
            return
        script, _, place = (outer or "").rpartition(":")
        earlier, _, ended = self.imports[1].rpartition(":")
        if self.imports[0] and script == earlier and int(place) > int(ended):
            self._trained(line, str(self.imports[0]))

    def _again(self, line: int, _detail: str | None) -> None:
        """A start begins here, as what is printed behind an exception that ended the one before shows."""
        if self.begun < line:
            self._start(line)

    def _ended_at_imports(self, line: int, outer: str | None) -> None:
        self.imports = line, outer or ""

    def _trained(self, _line: int, ended: str | None) -> None:
        """Another start begins behind the line `ended`, where a start ended at its imports."""
        if self.begun <= int(ended or 0):
            self._start(int(ended or 0) + 1)

    def _report(self, line: int, job: str | None) -> None:
        """LSF's report of a job begins; where its output lies is said later."""
        self.report = line, job or ""

    def _output(self, line: int, where: str | None) -> None:
        """LSF says where a job's output lies: it follows the report, or is above it."""
        first, job = self.report
        if job and where == "follows":
            self._job_banner(first, job)
            self.all[-1].reported = line
        elif job:
            self._job(line, job)

    def _start(self, line: int) -> None:
        self.begun = line
        if len(self.all) == MAX_SESSIONS:
            self.more += 1
            return
        self.all.append(Session(line, self.all[-1].job))
