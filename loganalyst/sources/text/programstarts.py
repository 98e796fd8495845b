"""Where a new start of the program begins in a job log: restarts, requeues, and several jobs appended to one file."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.patterntraits import having
from loganalyst.sources.text import countersagain, failedimports, openinglines, requeues
from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.lines.loglines import Chunk
from loganalyst.sources.text.lines.numberrecords import NONE
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.patterns.catalogue import PARTS
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits
from loganalyst.sources.text.sessionends import Session
from loganalyst.sources.text.startedagain import Openings
from loganalyst.thresholds import blame_limit

FATAL = ("aside", "root", "stop", "peer", "cascade")
MAX_SESSIONS = 1 << 14  # starts of a file that become sessions; each costs memory, and the report lists it
_BANNER_LINES = 50  # lines: all ranks of one start may print the first line
_JUDGED = ("root", "stop", "peer", "confirm", "aside")  # parts that decide how a session ended
_JOB_EVENTS = ("job", "banner", "report", "output")
_DIGITS = str.maketrans("123456789", "0" * 9)


@dataclass
class Sessions:
    """Numbers the sessions of one file (from 0) as its batches pass. A start mark counts after a failure, or where the
    session already had it and trained since. A weak mark (a fresh bar, the file's first line, its set-up lines) counts
    only after a failure.

    A failure of a session that showed no start and no training before it does not count: the marks behind it may be
    those of the same start. Errors are written at once, while what the program printed before waits in a buffer.
    """

    source: str
    job: str | None
    all: list[Session] = field(default_factory=list)
    first: str | None = None
    opening: dict[int, str] = field(default_factory=dict)  # the set-up lines, by line number
    openings: Openings = field(default_factory=Openings)
    counted: str | None = None  # the first line with a loss, "" if it has no counter
    buffered: bool | None = None  # the first failure goes before all training: what is printed waits in a buffer
    begun: int = 1  # the line of the last start, one beyond MAX_SESSIONS too
    busy: int = 0
    fatal: int = 0
    failed: int = 0  # the last failure that counts
    died: tuple[int, str] = (0, "")  # the last exception that nothing caught: its line, and `outer` of it
    imports: tuple[int, str] = (0, "")  # the last start that ended at its imports: its line, and `outer` of it
    job_line: int = 0
    report: tuple[int, str] = (0, "")  # LSF's report of a job: its first line, and the job
    more: int = 0  # starts beyond MAX_SESSIONS: their lines belong to the last session
    _copies: list[dict[str, Any]] = field(default_factory=list, init=False)  # of sessions, as `state` returned them
    _same: int = field(default=0, init=False)  # how many of the copies are still valid

    def __post_init__(self) -> None:
        self.all = self.all or [Session(1, self.job)]

    def state(self) -> Mapping[str, Any]:
        """The current state as plain JSON."""
        # called after each batch: copies only the sessions that may have changed since
        copies = ({name: copy(value) for name, value in vars(one).items()} for one in self.all[self._same :])
        self._copies[self._same :] = copies
        self._same = len(self.all)
        state = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return {**state, "all": list(self._copies), "openings": asdict(self.openings)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Sessions":
        """The sessions that `state` described."""

        def copied(one: Mapping[str, Any]) -> dict[str, Any]:
            faults = {part: tuple(fault) for part, fault in one["faults"].items()}
            own = {name: copy(one[name]) for name in ("seen", "caught", "last_caught", "apart", "own")}
            return {**one, **own, "faults": faults}

        every = [Session(**copied(s)) for s in state["all"]]
        opening = {int(line): text for line, text in state["opening"].items()}  # JSON has no whole numbers as keys
        pairs = {name: tuple(state[name]) for name in ("report", "died", "imports")}
        openings = Openings(**state["openings"])
        return cls(**{**state, **pairs, "all": every, "opening": opening, "openings": openings})

    def number(self, chunk: Chunk, look: Look, hits: Hits, known: Catalogue) -> NDArray[np.int64]:
        """The session of each row of a batch; the patterns `known` claim the lines `hits`."""
        self._same = min(self._same, self._holding(int(chunk.line[0])) if len(chunk) else self._same)
        handlers = {
            "job": self._job, "strong": self._strong, "weak": self._weak, "fatal": self._fatal, "opened": self._opened,
            "banner": self._job_banner, "report": self._report, "output": self._output, "requeued": self._requeued,
            "uncaught": self._uncaught, "imports": self._ended_at_imports, "trained": self._trained,
            "counted": self._counted, "continued": self._continued, "again": self._again,
        }  # fmt: skip
        busy = chunk.line[look.flags["busy"]]
        events = self._events(chunk, look, hits, known)
        befores = np.searchsorted(busy, [line for line, _, _ in events]).tolist()
        for (line, kind, detail), before in zip(events, befores, strict=True):
            self.busy = int(busy[before - 1]) if before else self.busy
            handlers[kind](line, detail)
        self.busy = int(busy[-1]) if len(busy) else self.busy
        return self.at(chunk.line)

    def at(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """The session of each line number."""
        if len(self.all) == 1 or not len(lines):
            return np.zeros(len(lines), np.int64)
        low = self._holding(int(lines.min()))
        starts = [s.first_line for s in self.all[low:]]
        return low + np.maximum(np.searchsorted(starts, lines, side="right") - 1, 0)

    def _holding(self, line: int) -> int:
        """The number of the session that holds a line, found without a look at all earlier ones."""
        return max(bisect_right(self.all, line, key=attrgetter("first_line")) - 1, 0)

    def _events(self, chunk: Chunk, look: Look, hits: Hits, known: Catalogue) -> list[tuple[int, str, str | None]]:
        """What decides about sessions, in file order: line, kind (which handler), detail (job number, or pattern of a
        start).
        """
        self._read_first(chunk, look)
        named = hits[known.of_job[hits.pattern]]
        said = zip(named.line.tolist(), (PARTS[part] for part in named.part.tolist()), named.captures, strict=True)
        events = [event for one in said if (event := _of_job(*one))]
        marks = hits[hits.with_parts("start", *FATAL)]
        kinds = np.where(marks.with_parts("start"), np.where(known.generic[marks.pattern], "weak", "strong"), "fatal")
        ids = [known.ids[pattern] for pattern in marks.pattern.tolist()]
        events += zip(marks.line.tolist(), kinds.tolist(), ids, strict=True)
        events += _continuations(hits, known)
        trained = requeues.trained_again(hits, known, chunk, look, self.first or "")
        events += [(line, "requeued", str(stop)) for line, stop in trained]
        events += self._of_imports(hits, known, chunk, chunk.line[look.flags["busy"]])
        if self.fatal >= self.all[-1].first_line or any(kind == "fatal" for _, kind, _ in events):
            jobs_first = [e for e in events if e[1] in _JOB_EVENTS]
            others = [e for e in events if e[1] not in _JOB_EVENTS]
            # both kinds count behind a failure only
            faults = [line for line, kind, _ in events if kind == "fatal"]
            fatal = self.fatal if self.fatal >= self.begun else min(faults, default=self.fatal)
            again = self._counted_again(hits, chunk, look)
            again += [(line, "weak", None) for line in self._first_again(chunk, look, fatal)]
            again += [(line, "opened", None) for line in openinglines.opened_again(self.opening, chunk, look, fatal)]
            events = [*jobs_first, *again, *others]
        return sorted(events, key=lambda event: event[0])

    def _read_first(self, chunk: Chunk, look: Look) -> None:
        """Remember the file's first line if it may be a banner, and its set-up lines."""
        if self.first is None:
            text = next((text for text in chunk.some(np.arange(min(len(chunk), 1000))) if text.strip()), "")
            body = described(pl.Series([text[:1000]]))["body"][0]
            self.first = text if openinglines.is_banner(text, body) else ""
            self.opening = openinglines.set_up(chunk, look)
        if self.counted is None:
            self.counted = countersagain.first_counted(chunk, look)

    def _counted_again(self, hits: Hits, chunk: Chunk, look: Look) -> list[tuple[int, str, str | None]]:
        """Events of a training whose counters went back behind a failure. The start begins behind the last line of the
        one before: of its training, or one that says how it ended. Where the first failure goes before all training,
        output waits in a buffer, and each start begins with its failure.
        """
        ends = hits.line[hits.with_parts(*FATAL, "confirm")]
        busy = chunk.line[look.flags["busy"]]
        if self.buffered is None and len(ends):
            self.buffered = not self.busy and not (busy < ends.min()).any()
        if not self.counted:
            return []
        found = countersagain.counted_again(self.counted, chunk, look, ends, hits.line)
        lasts = [before if self.buffered else max(before, *ends[ends < line].tolist()) for line, before in found]
        return [(last + 1, "counted", None) for last in lasts]

    def _first_again(self, chunk: Chunk, look: Look, after: int) -> list[int]:
        """The lines behind the line `after` that repeat the file's first line, apart from numbers."""
        if not self.first:
            return []
        later = chunk.line > max(after, _BANNER_LINES)
        same = np.flatnonzero((look.hash == kind_hashes(self.first.encode())[0]) & later)
        if not len(same):
            return []
        first, *others = (
            body.translate(_DIGITS) for body in described(pl.Series([self.first, *chunk.some(same)]))["body"]
        )
        return [line for line, body in zip(chunk.line[same].tolist(), others, strict=True) if body == first]

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

    def _of_imports(
        self, hits: Hits, known: Catalogue, chunk: Chunk, busy: NDArray[np.int64]
    ) -> list[tuple[int, str, str | None]]:
        """Events of starts that ended at their imports, of other exceptions that nothing caught, and of the training
        behind the former: whoever trains has imported everything.
        """
        found: list[tuple[int, str, str | None]] = []
        ended = [self.imports[0]] if self.imports[0] else []
        uncaught = failedimports.uncaught(hits, known, chunk)
        found += [(line, "again", None) for line in self.openings.starts(chunk, [line for line, *_ in uncaught], busy)]
        for line, outer, imports in uncaught:
            found.append((line, "uncaught", outer))
            if imports:
                found.append((line, "imports", outer))
                ended.append(line)
        for line in ended:
            later = busy[np.searchsorted(busy, line, side="right") :]
            if len(later) >= blame_limit("survived_after"):
                found.append((int(later[0]), "trained", str(line)))
        return found

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

    def add(self, hits: Hits, known: Catalogue, number_rows: NDArray[np.int64], chunk: Chunk, look: Look) -> None:
        """Record what the summary needs of a batch: the lines `hits` that `known` claims, and the rows `number_rows`
        that hold a metric.
        """
        here = self.all[self._holding(int(chunk.line[0])) :] if len(chunk) else []
        number_rows = np.sort(number_rows)
        begins = np.searchsorted(chunk.line, [session.first_line for session in here])
        begins[:1] = 0
        for session, (begin, end) in zip(here, pairwise([*begins.tolist(), len(chunk)]), strict=True):
            if begin == end:
                continue
            numbers = number_rows[slice(*np.searchsorted(number_rows, (begin, end)))]
            if len(numbers):
                session.add_progress(chunk.line[numbers])
            session.add_times(look.time[begin:end].view(np.int64))
        ids = (*having("terminated"), *having("traceback"))
        training_ends = {*having("finished"), *having("early_stop")}
        more = np.isin(hits.pattern, [n for n, pattern in enumerate(known.ids) if pattern in ids])
        judged = hits[hits.with_parts(*_JUDGED, "end") | more]
        answers = hits.line[hits.chain != NONE]
        for number, line in zip(self.at(answers).tolist(), answers.tolist(), strict=True):
            self.all[number].answered = line
        columns = (self.at(judged.line), judged.line, judged.pattern, judged.part, judged.captures)
        for number, line, pattern, place, captures in zip(*(column.tolist() for column in columns), strict=True):
            part = PARTS[place]
            session = self.all[number]
            if part == "end":
                session.add_end(line, of_training=known.ids[pattern] in training_ends)
            elif known.ids[pattern] in having("traceback"):
                session.head = line
            else:
                session.add_fault(part, (line, known.labels[pattern], known.ids[pattern]), captures)

    def left_out(self) -> pl.DataFrame:
        """The gap that says how many starts are not counted separately."""
        why = (
            f"{self.more:,} more starts of the program count to the last session: "
            f"a file has at most {MAX_SESSIONS:,} sessions"
        )
        return table("gaps", {"file": self.source, "offset": [None], "why": [why]} if self.more else None)

    def summary(self, last_line: int) -> pl.DataFrame:
        """The `sessions` table of the file."""
        starts = [s.first_line for s in self.all]
        lasts = [*(s - 1 for s in starts[1:]), max(last_line, starts[-1])]
        times = {
            name: pl.Series([getattr(s, name) for s in self.all], dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
            for name in ("started", "ended")
        }
        return table("sessions", {
            "session": list(range(len(self.all))),
            "source": self.source,
            "first_line": starts,
            "last_line": lasts,
            **times,
            "status": [s.status(last) for s, last in zip(self.all, lasts, strict=True)],
            "job": [s.job for s in self.all],
        })  # fmt: skip


def _continuations(hits: Hits, known: Catalogue) -> list[tuple[int, str, str | None]]:
    """The lines that say that a training continues from its checkpoint, as in `Sessions._events`."""
    ids = [number for number, name in enumerate(known.ids) if name in having("continued")]
    return [(line, "continued", None) for line in hits.line[np.isin(hits.pattern, ids)].tolist()]


def _of_job(line: int, part: str, captures: str) -> tuple[int, str, str | None] | None:
    """What a line says of a job, as in `Sessions._events`. `captures` are those of its pattern."""
    found: dict[str, str | None] = json.loads(captures)
    if where := found.get("job_output"):
        return line, "output", where
    job = found.get("job")
    if job is None:
        return None
    kind = "report" if "reported" in found else "banner" if part == "start" else "job"
    return line, kind, job
