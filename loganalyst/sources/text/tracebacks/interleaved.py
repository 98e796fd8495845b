"""Tracebacks of processes that print at once, line by line, without a prefix that would tell them apart."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from loganalyst.sources.text.tracebacks.tracelines import LONGEST, Ending
from loganalyst.sources.text.tracebacks.traces import Printed


def untangle(some: list[Printed]) -> None:
    """Put those of one printer right whose headers come before the exception of the one before: as many exceptions as
    there are headers go to them in the order printed. Whose frames are whose is known only where all printed the same.
    """
    for knot in _knots(some):
        said = [one.endings() for one in knot]
        if sum(map(len, said)) >= len(knot) and not any(one.strays() for one in knot[:-1]):
            _give(knot, said)
        else:
            _share(knot, said)


def _knots(some: list[Printed]) -> Iterator[list[Printed]]:
    """Runs of tracebacks in which one is not over when the next begins."""
    knot: list[Printed] = []
    due = 0
    for one in some:
        if knot and one.first - knot[-1].first > LONGEST:
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


def _share(knot: list[Printed], said: list[list[Ending]]) -> None:
    """Where some were cut off for good: each run of cut ones and the next that is not. What was printed next to a cut
    one may have that one's frames, and so may all that follow it.
    """
    begun, mixed = 0, False
    for k, one in enumerate(knot):
        if one.found.row is None:
            continue
        run = knot[begun : k + 1]
        begun = k + 1
        mixed = mixed or (len(run) > 1 and not one.orderly()) or not all(above.strays() for above in run[:-1])
        if len(run) > 1 and len(said[k]) > 1:
            _give(run, said[k + 1 - len(run) : k + 1])
            mixed = True
        elif mixed or one.extras():
            one.found.frame = _common(run) if len(run) > 1 else None


def _give(knot: list[Printed], said: list[list[Ending]]) -> None:
    """The exceptions to the headers, in the order printed; for the last ones there may be none."""
    frame = _common(knot)
    told = [(ending, one.place(ending.at)) for one, mine in zip(knot, said, strict=True) for ending in mine]
    for one in knot:
        one.end(None, None)
        one.found.frame = frame
    for one, (ending, row) in zip(knot, told, strict=False):
        one.end(ending, row)


def _common(knot: list[Printed]) -> str | None:
    """The innermost frame where all printed the same ones."""
    frames = list(chain.from_iterable(one.frames() for one in knot))
    alike = all(times % len(knot) == 0 for times in Counter(frames).values())
    return frames[-1] if frames and alike else None
