"""Tracebacks of processes that print at once, line by line, without a prefix that distinguishes them."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from loganalyst.sources.text.tracebacks.tracelines import MAX_ROWS, Ending
from loganalyst.sources.text.tracebacks.traces import Printed


def untangle(some: list[Printed]) -> None:
    """Correct one printer's tracebacks whose headers come before the exception of the traceback above.

    The exceptions are assigned to the headers in the order printed, if there are as many of both. Frames are known only
    where all processes printed the same.
    """
    for knot in _knots(some):
        endings = [one.endings() for one in knot]
        if sum(map(len, endings)) >= len(knot) and not any(one.strays() for one in knot[:-1]):
            _assign_in_order(knot, endings)
        else:
            _assign_by_run(knot, endings)


def _knots(some: list[Printed]) -> Iterator[list[Printed]]:
    """Runs of tracebacks in which one is not over when the next begins."""
    knot: list[Printed] = []
    due = 0
    for one in some:
        if knot and one.first - knot[-1].first > MAX_ROWS:
            yield knot
            knot, due = [], 0
        if not knot and one.found.row is not None:
            continue
        knot.append(one)
        due += 1 - len(one.endings())
        if due <= 0:
            yield knot
            knot, due = [], 0
    yield knot


def _assign_by_run(knot: list[Printed], endings: list[list[Ending]]) -> None:
    """Handle a knot in which some tracebacks were cut off for good.

    Each run of cut tracebacks belongs to the next complete one. A traceback printed next to a cut one may have that
    one's frames, and so may all that follow.
    """
    begun, mixed = 0, False
    for k, one in enumerate(knot):
        if one.found.row is None:
            continue
        run = knot[begun : k + 1]
        begun = k + 1
        mixed = mixed or (len(run) > 1 and not one.orderly()) or not all(above.strays() for above in run[:-1])
        if len(run) > 1 and len(endings[k]) > 1:
            _assign_in_order(run, endings[k + 1 - len(run) : k + 1])
            mixed = True
        elif mixed or one.extras():
            one.found.frame = _common_frame(run) if len(run) > 1 else None


def _assign_in_order(knot: list[Printed], said: list[list[Ending]]) -> None:
    """Assign the exceptions to the headers, in the order printed; the last headers may get none."""
    frame = _common_frame(knot)
    printed = [(ending, one.place(ending.at)) for one, endings in zip(knot, said, strict=True) for ending in endings]
    for one in knot:
        one.end(None, None)
        one.found.frame = frame
    for one, (ending, row) in zip(knot, printed, strict=False):
        one.end(ending, row)


def _common_frame(knot: list[Printed]) -> str | None:
    """The innermost frame where all processes printed the same frames."""
    frames = list(chain.from_iterable(one.frames() for one in knot))
    alike = all(times % len(knot) == 0 for times in Counter(frames).values())
    return frames[-1] if frames and alike else None
