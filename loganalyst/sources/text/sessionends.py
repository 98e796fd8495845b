"""How one start of the program ended, from the faults, the end marks and the metrics of its log."""

import re
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from loganalyst.model import RunStatus
from loganalyst.model.labels import CATCHABLE
from loganalyst.patterntraits import having
from loganalyst.sources.text.tracebacks.tracelines import MAX_ROWS
from loganalyst.thresholds import blame_limit

Fault = tuple[int, str | None, str]  # line, label, pattern
# in captures, see `Traceback.printer`
_PRINTER = re.compile(r'"printer":"(\w+)"')  # `"printer":"logger"`
_WAS_HANDLED = '"handled":true'  # in captures of an exception behind which the program says what it did instead
_LATE = '"late":true'  # in captures of an exception that left the training behind it
_OF_TRACEBACK = '"exception":'  # in captures of a traceback's exception
_UNCAUGHT = "uncaught:"  # before the pattern of an exception that the interpreter seems to have printed
_NAT = np.iinfo(np.int64).min  # NaT as an integer
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


@dataclass
class Session:
    """One start of the program: its first line, its job, the start patterns seen, and how it seems to end.

    progress: its last two lines with a metric. begun: its first one. late: an exception was raised behind the training,
    and no metric precedes it. trained: the number of lines with a metric. faults: by part, the
    first fault that training did not survive; under `cascade` only a SIGTERM that ended it, under `caught` an
    exception that the program printed itself, under `thread` one that ended a thread of it, under `uncaught` one that
    the interpreter printed. caught: how often the
    program, or by its form the interpreter (`uncaught:…`), printed each exception. last_caught: the last line of each.
    apart: exceptions between whose tracebacks the program printed something else. last_own: the last line of an
    exception that the program or the interpreter printed. own: what printed them. head: the last line that opens a
    traceback. answered: the last line that names the exception of one.
    reported: the last line of a report on the end of the job, which precedes its output. reported_done: the report
    says that the job succeeded. ended_at: its last end mark. started, ended: its first and last time (µs).
    """

    first_line: int
    job: str | None = None
    seen: list[str] = field(default_factory=list)
    progress: list[int] = field(default_factory=list)
    begun: int = 0
    late: bool = False
    trained: int = 0
    faults: dict[str, Fault] = field(default_factory=dict)
    caught: dict[str, int] = field(default_factory=dict)
    last_caught: dict[str, int] = field(default_factory=dict)
    apart: list[str] = field(default_factory=list)
    head: int = 0
    last_own: int = 0
    own: list[str] = field(default_factory=list)
    answered: int = 0
    reported: int = 0
    reported_done: bool = False
    ended_well: bool = False
    ended_at: int = 0
    started: int | None = None
    ended: int | None = None

    def status(self, last_line: int) -> RunStatus:
        """How the session, whose log has `last_line` lines, ended: by the scheduler's word, the first fault or the end
        mark, in this order.
        """
        stop = self.faults.get("stop")
        if stop and stop[1] in _STATUS_OF_STOP:
            return _STATUS_OF_STOP[stop[1]]
        # peers that are missed after the work was done had finished
        done = self.ended_well and "confirm" not in self.faults
        weak = [] if done else [self.faults[part] for part in ("confirm", "peer") if part in self.faults]
        # a cancel after a failed exit: the scheduler (or `srun -K`) ends the remaining tasks
        late = stop if stop and weak and stop[1] == "slurm_cancelled" and weak[0][1] and weak[0][0] < stop[0] else None
        survived = {
            "caught": self._handled(last_line),
            "thread": self._outlived_thread(last_line),
            "uncaught": self._trained(last_line),
        }
        own = {"root", "stop", *(part for part, went_on in survived.items() if not went_on)}
        strong = [f for part, f in self.faults.items() if part in own and f is not late]
        strong = sorted(strong, key=itemgetter(0))
        aside = [
            fault for part, fault in self.faults.items() if part == "aside" and fault[2] not in having("shell_line")
        ]
        aside = [] if self.ended_well else aside
        for _, label, pattern in (*strong, *weak, *aside):
            if pattern in having("raised"):
                return "failed"
            return "killed" if pattern in having("killed") else _STATUS_OF_LABEL.get(label or "", "failed")
        if self.ended_well:
            return "finished"
        return "killed" if "cascade" in self.faults else "failed" if self._cut_off(last_line) else "unknown"

    def _cut_off(self, last_line: int) -> bool:
        """Whether the log ends within a traceback, before the line of its exception."""
        return max(self.answered, *self.progress[-1:], last_line - MAX_ROWS) < self.head

    def _handled(self, last_line: int) -> bool:
        """Whether the program went on after exceptions that it printed itself: it did so again and again, or its job
        succeeded. The last words of a log may be the same exception of several ranks.
        """
        often = [pattern for pattern in self._repeated() if not pattern.startswith(_UNCAUGHT)]
        last = last_line - blame_limit("last_words")
        went_on = any(pattern in self.apart or self.last_caught[pattern] < last for pattern in often)
        return (went_on or self.reported_done) and "confirm" not in self.faults

    def _outlived_thread(self, last_line: int) -> bool:
        """Whether the program went on after a thread of it ended by an exception."""
        line = self.faults.get("thread", (last_line,))[0]
        return last_line - line >= blame_limit("records_go_on") or self.reported_done

    def _repeated(self) -> list[str]:
        return [pattern for pattern, times in self.caught.items() if times >= blame_limit("printed_again")]

    def caught_at_top(self) -> bool:
        """Whether a script printed the same exception from its top again and again: a process dies once."""
        return any(pattern.startswith(_UNCAUGHT) and pattern in self.apart for pattern in self._repeated())

    def _trained(self, last_line: int) -> bool:
        """Whether it trained to its end, or longer than a buffer holds, behind an exception that nothing caught."""
        line = self.faults.get("uncaught", (last_line,))[0]
        went_on = len(self.progress) > 1 and self.progress[0] > line
        longer = min(self.trained, last_line - line) > blame_limit("flushed")
        return went_on and (longer or self.ended_at > line or self.reported_done)

    def add_fault(self, part: str, fault: Fault, captures: str) -> None:
        """Record a fault, unless training survived it. `captures` are those of its line."""
        hit = _PRINTER.search(captures) if part == "root" else None
        printer = hit[1] if hit else None
        late = _LATE in captures and not 0 < self.begun < fault[0]
        if printer == "handler" and late:  # the program caught it at its top, behind the training
            printer = "interpreter"
        if printer in ("logger", "handler", "child", "library", "command") or is_one_line(part, fault[1], captures):
            part = "caught"
        if printer in ("logger", "handler"):
            self._count(fault[0], fault[2], by_logger=printer == "logger")
        elif printer == "interpreter":
            part = "uncaught"
            self.late |= late
            self._count(fault[0], _UNCAUGHT + fault[2], by_logger=False)
        elif printer == "thread":
            part = "thread"
        if _WAS_HANDLED in captures:
            return
        if part in ("caught", "thread", "uncaught"):
            self.last_own = max(self.last_own, fault[0])
            self.own = sorted({*self.own, printer or "line"})
        if fault[2] in (*having("step_cancelled"), *having("driver_record")) and self._was_done(fault[0]):
            return
        if self.is_fatal_at(part, fault[0]):
            self.faults[part] = min(self.faults.get(part, fault), fault, key=itemgetter(0))

    def _count(self, line: int, pattern: str, *, by_logger: bool) -> None:
        """Count an exception that the program printed. Only a log record goes before a traceback of a logger."""
        between = self.head - self.last_caught.get(pattern, self.head) - 1
        if between > by_logger and pattern not in self.apart:
            self.apart.append(pattern)
        self.caught[pattern] = self.caught.get(pattern, 0) + 1
        self.last_caught[pattern] = line

    def add_end(self, line: int, *, of_training: bool = False) -> None:
        """Record an end mark: the program went on after exceptions that it printed, and after a watchdog's word.

        The end of a training had waited in a buffer if an exception of what comes behind it is printed before.
        """
        if of_training and self.late:
            return
        self.ended_well = True
        self.ended_at = max(self.ended_at, line)
        self.reported_done |= line <= self.reported
        self.faults.pop("caught", None)
        self.faults.pop("thread", None)
        if self.faults.get("root", ("", ""))[1] == "hang":
            del self.faults["root"]

    def _was_done(self, line: int) -> bool:
        """Whether the program had reported its end before this line, and trained no more: a result may follow it."""
        trained = len(self.progress) > 1 and self.progress[0] > self.ended_at
        return 0 < self.ended_at < line and not trained

    def may_end_well(self) -> bool:
        """Whether the words for an end, as the last ones of the log, mean that it ended well: no end mark says so
        before, and no fault was seen that the program did not print itself.
        """
        return not self.ended_well and self.faults.keys() <= {"caught", "thread"}

    def may_go_on(self) -> bool:
        """Whether all its faults are exceptions that the program or an interpreter printed, or of a job script."""
        others = {*self.faults} - {"caught", "thread", "uncaught"}
        of_shell = self.own == ["command"] and others == {"aside"}
        return not self.ended_well and (not others or of_shell) and bool(self.faults)

    def go_on(self) -> None:
        """Record that ordinary work followed these exceptions."""
        self.faults.clear()

    def add_progress(self, lines: NDArray[np.int64]) -> None:
        """Record lines that hold a metric, in order: a fault before the last but one was survived."""
        last = lines.max()
        self.begun = self.begun or int(lines.min())
        self.trained += 1 + int(np.count_nonzero(np.diff(lines)))
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
        after = len(self.progress) < 2 or line >= self.progress[0] or line <= self.reported
        return after or part in ("stop", "uncaught")


def is_one_line(part: str, label: str | None, captures: str) -> bool:
    """Whether a fault is an exception's one line without a traceback: a program printed it that had caught it."""
    return part == "root" and label in CATCHABLE and _OF_TRACEBACK not in captures
