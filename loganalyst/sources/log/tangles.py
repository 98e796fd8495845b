"""Tracebacks of processes that print at once, line by line, without a prefix that would tell them apart."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from loganalyst.sources.log.tracelines import Ending
from loganalyst.sources.log.traces import Printed


def untangle(some: list[Printed]) -> None:
    """Put those of one printer right whose headers come before the exception of the one before: as many exceptions as
    there are headers go to them in the order printed. Whose frames are whose is known only where all printed the same.
    """
    for knot in _knots(some):
        said = [one.endings() for one in knot]
        if sum(map(len, said)) >= len(knot):
            _give(knot, said)
        else:
            _share(knot, said)


def _knots(some: list[Printed]) -> Iterator[list[Printed]]:
    """Runs of tracebacks in which one is not over when the next begins."""
    knot: list[Printed] = []
    due = 0
    for one in some:
        if not knot and one.found.row is not None:
            continue
        knot.append(one)
        due += 1 - len(one.endings())
        if one.found.row is not None and (due <= 0 or one.strays()):
            yield knot
            knot, due = [], 0
    if any(one.found.row is not None for one in knot):
        yield knot


def _share(knot: list[Printed], said: list[list[Ending]]) -> None:
    """Where some were cut off for good: each run of cut ones and the next that is not."""
    begun = 0
    for k, one in enumerate(knot):
        if one.found.row is None:
            continue
        run = knot[begun : k + 1]
        if len(run) > 1 and len(said[k]) > 1:
            _give(run, said[begun : k + 1])
        elif len(run) > 1 and run[-2].found.deep is not None and not run[-2].strays():
            one.found.frame = _common(run[-2:])  # the one above may have gone on among its frames
        begun = k + 1


def _give(knot: list[Printed], said: list[list[Ending]]) -> None:
    """The exceptions to the headers, in the order printed."""
    frame = _common(knot)
    told = chain.from_iterable(
        ((ending, one.place(ending.at)) for ending in mine) for one, mine in zip(knot, said, strict=True)
    )
    for one, (ending, row) in zip(knot, list(told), strict=False):
        one.end(ending, row)
        one.found.frame = frame


def _common(knot: list[Printed]) -> str | None:
    """The innermost frame where all printed the same ones."""
    frames = list(chain.from_iterable(one.frames() for one in knot))
    alike = all(times % len(knot) == 0 for times in Counter(frames).values())
    return frames[-1] if frames and alike else None
