"""Curves reduced to rows of levels that a line of text can draw, on one step axis."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from loganalyst.model import Curve
from loganalyst.report.common.wording import clean, number

LEVELS = 8
EMPTY, NONFINITE = -1, LEVELS  # a cell where nothing was logged, and one with a NaN or an infinity
MAX_ENDS_RATIO = 0.1  # an extreme is shown if it lies outside both ends by this share of the range


class Series(msgspec.Struct, frozen=True):
    """One curve as `cells`: a level 0..7 each, EMPTY or NONFINITE. `onset` is the cell where the trouble began.

    `values` lists where the curve began, turned and ended. `aligned` is False where the metric counts its steps in
    another unit than the other series (epochs, not batches) and has its own axis. `enlarged` names the side of the
    onset that got more cells than its share of the steps, to keep it visible.
    """

    metric: str
    role: str
    cells: tuple[int, ...]
    values: str
    onset: int | None
    aligned: bool
    enlarged: str


class _Axis(msgspec.Struct, frozen=True):
    """Steps `first`..`last` over `width` cells. Cell `at` begins with `onset`; both sides of it are linear."""

    first: int
    last: int
    width: int
    onset: int | None = None
    at: int = 0
    enlarged: str = ""

    def columns(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell of each step."""
        if self.onset is None:
            return (steps - self.first) * self.width // (self.last - self.first + 1)
        before = (steps - self.first) * self.at // max(self.onset - self.first, 1)
        after = self.at + (steps - self.onset) * (self.width - self.at) // (self.last - self.onset + 1)
        return np.where(steps < self.onset, before, after)


def chart(curves: Sequence[Curve], onset: int | None, cells: int = 48) -> tuple[Series, ...]:
    """Draw the curves that have points over their common steps, in at most `cells` cells."""
    curves = [c for c in curves if len(c.values)]
    if not curves:
        return ()
    common = _axis(_steps(curves), onset, cells)
    return tuple(_series(c, common, cells) for c in curves)


def _steps(curves: Sequence[Curve]) -> NDArray[np.int64]:
    """The steps at which any curve has a point. Equal steps of several curves are sorted once."""
    others: list[NDArray[np.int64]] = []
    for curve in curves:
        if not any(np.array_equal(curve.steps, known) for known in others):
            others.append(curve.steps)
    ordered = np.sort(np.concatenate(others))  # faster than np.unique, whose hash table of millions takes a second
    return ordered[np.diff(ordered, prepend=ordered[0] - 1) > 0]


def _axis(steps: NDArray[np.int64], onset: int | None, cells: int) -> _Axis:
    """A linear axis. A side of the onset that would get less than a sixth of the cells gets a third of them."""
    first, last = int(steps[0]), int(steps[-1])
    width = min(cells, len(steps))
    if onset is None or not first < onset <= last:
        return _Axis(first, last, width, *((onset, 0) if onset == first else ()))
    at = (onset - first) * width // (last - first + 1)
    n_before = int(np.searchsorted(steps, onset))
    placed = at
    if 6 * at < width:
        placed = min(width // 3, n_before)
    elif 6 * (width - at) < width:
        placed = width - min(width // 3, len(steps) - n_before)
    placed = min(max(placed, 1), width - 1) if width > 1 else 0
    return _Axis(first, last, width, onset, placed, "before" if placed > at else "after" if placed < at else "")


def _series(curve: Curve, common: _Axis, cells: int) -> Series:
    span = int(curve.steps[-1]) - int(curve.steps[0])
    aligned = len(curve.values) < 3 or 20 * span >= common.last - common.first
    axis = common if aligned else _axis(_steps([curve]), None, cells)
    blocks = _blocks(axis.columns(curve.steps), curve.values, axis.width, curve.role.worse)
    return Series(
        metric=clean(curve.metric, 120),
        role=curve.role.name,
        cells=_levels(blocks),
        values=course(curve.values),
        onset=axis.at if axis.onset is not None else None,
        aligned=aligned,
        enlarged=axis.enlarged,
    )


def _blocks(columns: NDArray[np.int64], values: NDArray[np.float64], width: int, worse: str | None) -> list[float]:
    """The value of each cell: the worst point (the median if no direction is worse), inf for a non-finite point.

    A cell without points repeats the value before it while the curve continues, and is NaN after the curve's end.
    """
    reduce = {"up": np.max, "down": np.min}.get(worse or "", np.median)
    edges = np.searchsorted(columns, np.arange(width + 1))
    out: list[float] = []
    for start, end in pairwise(edges):
        block = values[start:end]
        if not len(block):
            goes_on = start > 0 and start < len(values) and np.isfinite(out[-1])
            out.append(out[-1] if goes_on else np.nan)
        else:
            out.append(float(reduce(block)) if np.isfinite(block).all() else np.inf)
    return out


def _levels(blocks: Sequence[float]) -> tuple[int, ...]:
    """Heights of the blocks, logarithmic for a positive curve that spans more than a factor of 10."""
    values = np.asarray(blocks) / 4  # so that no difference overflows
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    if low > 0 and high / 10 > low:
        values = np.log(values, out=values, where=np.isfinite(values))
        low, high = np.log(low), np.log(high)
    flat = high <= low
    levels = np.full(len(values), LEVELS // 2 - 1) if flat else np.zeros(len(values), int)
    ok = np.isfinite(values)
    if not flat:
        levels[ok] = np.rint((values[ok] - low) / (high - low) * (LEVELS - 1)).astype(int)
    levels[np.isnan(values)] = EMPTY
    levels[np.isinf(values)] = NONFINITE
    return tuple(int(level) for level in levels)


def course(values: NDArray[np.float64]) -> str:
    """Where a curve began, its extreme if that lies well outside both ends, and where it ended."""
    finite = values[np.isfinite(values)]
    ends = []
    if len(finite):
        first, last = finite[0], finite[-1]
        quarter = finite / 4  # so that no difference overflows
        over, under = quarter.max() - max(first, last) / 4, min(first, last) / 4 - quarter.min()
        ends = [first, last]
        if max(over, under) > MAX_ENDS_RATIO * np.ptp(quarter):
            ends.insert(1, finite.max() if over >= under else finite.min())
    if len(values) and not np.isfinite(values[-1]):
        ends.append(values[-1])
    texts = [number(float(v)) for v in ends]
    return " → ".join(t for i, t in enumerate(texts) if i == 0 or t != texts[i - 1])
