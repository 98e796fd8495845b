"""The attempts at one training: the starts of its run, and earlier runs that the user names."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from loganalyst.model import Attempt, Diagnosis, SessionSummary

Earlier = Diagnosis  # of an earlier attempt
_DIGITS = re.compile(r"\d+")


class _Start(NamedTuple):
    """A start of a run, and what makes its root cause the same as another's."""

    attempt: Attempt
    fault: tuple[str | None, ...] | None


def attempts_of(found: Diagnosis, earlier: Sequence[Earlier] = ()) -> tuple[Attempt, ...]:
    """The starts of the earlier runs and of this one, in order. Starts behind the last one with a root cause are left
    out: they have not shown anything yet.
    """
    starts = [start for one in (*earlier, found) for start in _starts(one)]
    known = [i for i, start in enumerate(starts) if start.fault]
    starts = starts[: known[-1] + 1] if known else starts
    last = starts[-1].fault if starts else None
    return tuple(replace(s.attempt, same=s.fault is not None and s.fault == last) for s in starts)


def in_a_row(attempts: Sequence[Attempt]) -> int:
    """How many of the last attempts ended by the same root cause, none of them further than the one before."""
    if not attempts or not attempts[-1].same:
        return min(len(attempts), 1)
    count = 1
    for before, after in reversed(list(pairwise(attempts))):
        further = None not in (before.last_step, after.last_step) and (after.last_step or 0) > (before.last_step or 0)
        if not before.same or further:
            break
        count += 1
    return count


def _starts(found: Diagnosis) -> list[_Start]:
    """The starts of one run; the one start of a run without a log."""
    if not found.sessions:
        return [_of_run(found)]
    starts = [_of_session(found, session) for session in found.sessions]
    if found.sessions[-1].label is None and len(starts) == 1:
        return [_of_run(found)]
    return starts


def _of_session(found: Diagnosis, s: SessionSummary) -> _Start:
    last = s.last_step if len(found.sessions) > 1 else found.summary.get("last_step")
    attempt = Attempt(found.run.name, s.index + 1, s.status, s.label, s.file, s.line, s.node, last, same=False)
    words = _DIGITS.sub("", s.message or "")
    return _Start(attempt, (s.label, s.pattern, words) if s.label else None)


def _of_run(found: Diagnosis) -> _Start:
    cause = found.causes[0] if found.causes and found.causes[0].verdict == "likely" else None
    last = found.summary.get("last_step")
    if cause is None:
        return _Start(Attempt(found.run.name, 1, found.run.status, None, None, None, None, last, same=False), None)
    place = (cause.file, cause.line, cause.node)
    attempt = Attempt(found.run.name, 1, found.run.status, cause.label, *place, last, same=False)
    return _Start(attempt, (cause.label, cause.id))
