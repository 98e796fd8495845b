"""Where a new start of the program begins in a job log: restarts, requeues, and several jobs appended to one file."""

import json
from bisect import bisect_right
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import RunStatus, table
from loganalyst.patterntraits import having
from loganalyst.sources.text.lines.linekinds import Look, kind_hashes
from loganalyst.sources.text.lines.loglines import Chunk
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.patterns.catalogue import PARTS
from loganalyst.sources.text.patterns.matchedlines import Catalogue, Hits
from loganalyst.thresholds import blame_limit

FATAL = ("aside", "root", "stop", "peer", "cascade")
# a line with one of these is no banner
_TRAINING_WORDS = ("Traceback", "%|", "it/s", "s/it", "loss", "Loss", "LOSS", "step")
MAX_SESSIONS = 1 << 14  # starts of a file that become sessions; each costs memory, and the report lists it
# lines with a loss behind the scheduler's word that it stops the job: fewer may be what ranks still wrote
MIN_LINES_AFTER_REQUEUE = 20
_BANNER_LINES = 50  # lines: all ranks of one start may print the first line
_STATUS_OF_STOP: dict[str, RunStatus] = {
    "slurm_timeout": "timeout",
    "slurm_preempted": "preempted",
    "node_failure": "node_fail",
}
_STATUS_OF_LABEL: dict[str, RunStatus] = {
    **_STATUS_OF_STOP,
    "slurm_cancelled": "cancelled",
    "user_interrupt": "cancelled",
    "host_oom": "killed",
}
_JUDGED = ("root", "stop", "peer", "confirm", "aside")  # parts that decide how a session ended
Fault = tuple[int, str | None, str]  # line, label, pattern
_JOB_EVENTS = ("job", "banner", "report", "output")
_OWN_PRINTERS, _UNCAUGHT = ("logger", "handler"), '"printer":"interpreter"'  # in captures; see `Traceback.printer`
_DIGITS = str.maketrans("123456789", "0" * 9)
_NAT = np.iinfo(np.int64).min  # NaT as an integer


@dataclass
class Session:
    """One start of the program: its first line, its job, the start patterns seen, and how it seems to end.

    progress: its last two lines with a metric. faults: by part, the first fault that training did not survive; under
    `cascade` only a SIGTERM that ended it, under `caught` an exception that the program printed itself, under
    `uncaught` one that the interpreter printed before the first metric. caught: how often the program printed each
    exception. trained_at: its first line with a metric. started, ended: its first and last time (µs).
    """

    first_line: int
    job: str | None = None
    seen: list[str] = field(default_factory=list)
    progress: list[int] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    caught: dict[str, int] = field(default_factory=dict)
    trained_at: int | None = None
    ended_well: bool = False
    started: int | None = None
    ended: int | None = None

    def status(self) -> RunStatus:
        """How the session ended: by the scheduler's word, the first fault or the end mark, in this order."""
        stop = self.faults.get("stop")
        if stop and stop[1] in _STATUS_OF_STOP:
            return _STATUS_OF_STOP[stop[1]]
        # peers that are missed after the work was done had finished
        done = self.ended_well and "confirm" not in self.faults
        weak = [] if done else [self.faults[part] for part in ("confirm", "peer") if part in self.faults]
        # a cancel after a failed exit: the scheduler (or `srun -K`) ends the remaining tasks
        late = stop if stop and weak and stop[1] == "slurm_cancelled" and weak[0][1] and weak[0][0] < stop[0] else None
        survived = {"caught": self._handled(), "uncaught": self._trained()}
        own = {"root", "stop", *(part for part, went_on in survived.items() if not went_on)}
        strong = [f for part, f in self.faults.items() if part in own and f is not late]
        strong = sorted(strong, key=itemgetter(0))
        aside = [
            fault for part, fault in self.faults.items() if part == "aside" and fault[2] not in having("shell_line")
        ]
        aside = [] if self.ended_well else aside
        for _, label, pattern in (*strong, *weak, *aside):
            return "killed" if pattern in having("killed") else _STATUS_OF_LABEL.get(label or "", "failed")
        return "finished" if self.ended_well else "killed" if "cascade" in self.faults else "unknown"

    def _handled(self) -> bool:
        """Whether the program went on after exceptions that it printed itself: it did so again and again."""
        often = max(self.caught.values(), default=0) >= blame_limit("printed_again")
        return often and "confirm" not in self.faults

    def _trained(self) -> bool:
        """Whether it trained to its end."""
        return self.ended_well and len(self.progress) > 1

    def add_fault(self, part: str, fault: Fault, captures: str) -> None:
        """Record a fault, unless training survived it. `captures` are those of its line."""
        if part == "root" and any(f'"printer":"{printer}"' in captures for printer in _OWN_PRINTERS):
            part = "caught"
            self.caught[fault[2]] = self.caught.get(fault[2], 0) + 1
        elif part == "root" and _UNCAUGHT in captures and (self.trained_at or fault[0]) >= fault[0]:
            part = "uncaught"
        if self.is_fatal_at(part, fault[0]):
            self.faults[part] = min(self.faults.get(part, fault), fault, key=itemgetter(0))

    def add_progress(self, lines: NDArray[np.int64]) -> None:
        """Record lines that hold a metric: a fault before the last but one was survived."""
        last = lines.max()
        self.trained_at = self.trained_at or int(lines.min())
        before = lines[lines < last]
        self.progress = [*self.progress, *([int(before.max())] if len(before) else []), int(last)][-2:]
        self.faults = {part: fault for part, fault in self.faults.items() if self.is_fatal_at(part, fault[0])}

    def add_times(self, times: NDArray[np.int64]) -> None:
        """Record the times of lines (µs, _NAT where there is none)."""
        last = int(times.max())
        if last != _NAT:
            first = int(times[times != _NAT].min())
            self.started = first if self.started is None else min(self.started, first)
            self.ended = last if self.ended is None else max(self.ended, last)

    def is_fatal_at(self, part: str, line: int) -> bool:
        """Whether training did not survive a fault on this line."""
        return part in ("stop", "uncaught") or len(self.progress) < 2 or line >= self.progress[0]


@dataclass
class Sessions:
    """Numbers the sessions of one file (from 0) as its batches pass. A start mark counts after a failure, or where the
    session already had it and trained since. A weak mark (a fresh bar, the file's first line) counts only after a
    failure.

    A failure of a session that showed no start and no training before it does not count: the marks behind it may be
    those of the same start. Errors are written at once, while what the program printed before waits in a buffer.
    """

    source: str
    job: str | None
    all: list[Session] = field(default_factory=list)
    first: str | None = None
    busy: int = 0
    fatal: int = 0
    failed: int = 0  # the last failure that counts
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
        return {**state, "all": list(self._copies)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Sessions":
        """The sessions that `state` described."""

        def copied(one: Mapping[str, Any]) -> dict[str, Any]:
            faults = {part: tuple(fault) for part, fault in one["faults"].items()}
            return {**one, "seen": list(one["seen"]), "faults": faults, "caught": dict(one["caught"])}

        every = [Session(**copied(s)) for s in state["all"]]
        return cls(**{**state, "all": every, "report": tuple(state["report"])})

    def number(self, chunk: Chunk, look: Look, hits: Hits, known: Catalogue) -> NDArray[np.int64]:
        """The session of each row of a batch; the patterns `known` claim the lines `hits`."""
        self._same = min(self._same, self._holding(int(chunk.line[0])) if len(chunk) else self._same)
        handlers = {
            "job": self._job, "strong": self._strong, "weak": self._weak, "fatal": self._fatal,
            "banner": self._job_banner, "report": self._report, "output": self._output, "requeued": self._requeued,
        }  # fmt: skip
        busy = chunk.line[look.flags["busy"]]
        for line, kind, detail in self._events(chunk, look, hits, known):
            before = int(np.searchsorted(busy, line))
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
        self._read_first(chunk)
        named = hits[known.of_job[hits.pattern]]
        said = zip(named.line.tolist(), (PARTS[part] for part in named.part.tolist()), named.captures, strict=True)
        events = [event for one in said if (event := _of_job(*one))]
        marks = hits[hits.with_parts("start", *FATAL)]
        kinds = np.where(marks.with_parts("start"), np.where(known.generic[marks.pattern], "weak", "strong"), "fatal")
        ids = [known.ids[pattern] for pattern in marks.pattern.tolist()]
        events += zip(marks.line.tolist(), kinds.tolist(), ids, strict=True)
        events += _requeued(hits, known, chunk.line[look.flags["busy"]])
        if self.fatal >= self.all[-1].first_line or any(kind == "fatal" for _, kind, _ in events):
            jobs_first = [e for e in events if e[1] in _JOB_EVENTS]
            others = [e for e in events if e[1] not in _JOB_EVENTS]
            events = [*jobs_first, *((line, "weak", None) for line in self._first_again(chunk, look)), *others]
        return sorted(events, key=lambda event: event[0])

    def _read_first(self, chunk: Chunk) -> None:
        """Remember the file's first line if it may be a banner; an indented line (a frame of a traceback) is none."""
        if self.first is None:
            text = next((text for text in chunk.some(np.arange(min(len(chunk), 1000))) if text.strip()), "")
            body = described(pl.Series([text]))["body"][0] if len(text) < 1000 and not text[:1].isspace() else ""
            self.first = text if len(body) >= 12 and not any(word in body for word in _TRAINING_WORDS) else ""

    def _first_again(self, chunk: Chunk, look: Look) -> list[int]:
        """The lines that repeat the file's first line, apart from numbers."""
        if not self.first:
            return []
        same = np.flatnonzero((look.hash == kind_hashes(self.first.encode())[0]) & (chunk.line > _BANNER_LINES))
        if not len(same):
            return []
        first, *others = (
            body.translate(_DIGITS) for body in described(pl.Series([self.first, *chunk.some(same)]))["body"]
        )
        return [line for line, body in zip(chunk.line[same].tolist(), others, strict=True) if body == first]

    def _fatal(self, line: int, _detail: str | None) -> None:
        self.fatal = line
        if self.all[-1].seen or self.all[-1].first_line <= self.busy:
            self.failed = line

    def _strong(self, line: int, pattern: str | None) -> None:
        last = self.all[-1]
        trained = pattern in last.seen and last.first_line <= self.busy < line
        if trained or last.first_line <= self.failed < line:
            self._start(line)
        self._see(pattern)

    def _see(self, pattern: str | None) -> None:
        if pattern and pattern not in self.all[-1].seen:
            self.all[-1].seen.append(pattern)

    def _weak(self, line: int, pattern: str | None) -> None:
        """`pattern` is None for the file's first line, which shows a start."""
        if self.all[-1].first_line <= (self.failed if pattern else self.fatal) < line:
            self._start(line)
        self._see(pattern)

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
        """Training goes on behind the line `stopped`, where the scheduler took the job's nodes away."""
        if self.all[-1].first_line <= int(stopped or 0):
            self._start(int(stopped or 0) + 1)

    def _report(self, line: int, job: str | None) -> None:
        """LSF's report of a job begins; where its output lies is said later."""
        self.report = line, job or ""

    def _output(self, line: int, where: str | None) -> None:
        """LSF says where a job's output lies: it follows the report, or is above it."""
        first, job = self.report
        if job and where == "follows":
            self._job_banner(first, job)
        elif job:
            self._job(line, job)

    def _start(self, line: int) -> None:
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
        ids = having("terminated")
        terminated = np.isin(hits.pattern, [n for n, pattern in enumerate(known.ids) if pattern in ids])
        judged = hits[hits.with_parts(*_JUDGED, "end") | terminated]
        columns = (self.at(judged.line), judged.line, judged.pattern, judged.part, judged.captures)
        for number, line, pattern, place, captures in zip(*(column.tolist() for column in columns), strict=True):
            part = PARTS[place]
            session = self.all[number]
            if part == "end":
                session.ended_well = True
                session.faults.pop("caught", None)
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
        times = {
            name: pl.Series([getattr(s, name) for s in self.all], dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
            for name in ("started", "ended")
        }
        return table("sessions", {
            "session": list(range(len(self.all))),
            "source": self.source,
            "first_line": starts,
            "last_line": [*(s - 1 for s in starts[1:]), max(last_line, starts[-1])],
            **times,
            "status": [s.status() for s in self.all],
            "job": [s.job for s in self.all],
        })  # fmt: skip


def _requeued(hits: Hits, known: Catalogue, busy: NDArray[np.int64]) -> list[tuple[int, str, str | None]]:
    """The lines that show that a requeued job trains again, as in `Sessions._events`; `busy` are lines with a loss."""
    label = [n for n, label in enumerate(known.labels) if label == "slurm_preempted"]
    stops = hits.line[np.isin(hits.pattern, label) & hits.with_parts("stop")]
    later = np.searchsorted(busy, stops, side="right") + MIN_LINES_AFTER_REQUEUE
    some = later < len(busy)
    return [(int(busy[at]), "requeued", str(stop)) for at, stop in zip(later[some], stops[some].tolist(), strict=True)]


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
