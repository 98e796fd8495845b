"""Big tables of a run, reduced to fit into memory: whole, or above a limit a sample of each curve.

The longest curves are thinned, and shorter ones stay whole. Of a thinned curve every n-th point is kept. So are its
first and last point, its extremes, and single points far from their neighbours. So are both sides of a break: where the
curve becomes NaN or finite again, where a session begins, or where its steps go back. A gap says what is left out.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.sources.files.rowspool import MAX_ROWS_IN_MEMORY
from loganalyst.sources.filetables import changed

# rows up to which a table is judged whole
LIMITS: Mapping[str, int] = {"points": MAX_ROWS_IN_MEMORY, "distributions": MAX_ROWS_IN_MEMORY // 8}
_VALUES = {"points": "value", "distributions": "mean"}  # the column whose extremes are kept
MAX_BREAKS_KEPT = 256  # of a curve; of further breaks a share is kept
ROOM = 1.5  # of the rows of a curve, the stride keeps this part: room for those that are kept for other reasons
MIN_JUMP = 12.0  # times the mean distance of a point from the middle of its neighbours

Frames = Callable[[], Iterable[pl.DataFrame]]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


def fitting(name: str, height: int, frames: Frames, limits: Mapping[str, int] = LIMITS) -> tuple[pl.DataFrame, str]:
    """The `height` rows of table `name` (at least one), and a sentence on what was left out (empty: nothing). `frames`
    gives the rows in pieces, each time it is called.
    """
    limit = limits.get(name)
    if limit is None or height <= limit:
        return pl.concat(list(frames()), rechunk=name != "points"), ""
    census = _Census(_VALUES[name])
    for frame in frames():
        census.add(frame)
    thinning = _Thinning(census, limit)
    kept = pl.concat([thinning.take(frame) for frame in frames()], rechunk=name != "points")
    strides = thinning.stride[thinning.stride > 1]
    every = f"every {_nth(int(strides.min()))}" + (f" to {_nth(int(strides.max()))}" if np.ptp(strides) else "")
    return kept, (
        f"{height - kept.height:,} of {height:,} {name} are not judged: a run of more than {limit:,} is judged by a "
        f"sample of its {len(strides):,} longest curves, {every} row and all extremes and breaks"
    )


def gap(run: str, why: str) -> pl.DataFrame:
    """The sentence on what was left out of a run, as a row of `gaps`."""
    return table("gaps", {"file": run, "offset": [None], "why": [why]}) if why else table("gaps")


def _nth(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


class _Sorted(NamedTuple):
    """The rows of a frame sorted by curve. By row: `order` is its place in the frame, `code` its curve, and `values`
    its value (NaN: none). By curve: `starts` is its first row, and `curve` its code.
    """

    order: Integers
    code: Integers
    starts: Integers
    curve: Integers
    values: NDArray[np.float64]

    def rank(self) -> Integers:
        """The number of each row within its curve, from 0."""
        return np.arange(len(self.order)) - np.repeat(self.starts, self.sizes)

    @property
    def sizes(self) -> Integers:
        """Rows of each curve."""
        return np.diff(self.starts, append=len(self.order))


class _Census(msgspec.Struct):
    """Counts over all rows: by code of the curve its number of rows, and the places of its extremes among all rows."""

    value: str
    codes: dict[str, int] = msgspec.field(default_factory=dict)
    counts: Integers = msgspec.field(default_factory=lambda: np.zeros(0, np.int64))
    best: list[NDArray[np.float64]] = msgspec.field(default_factory=lambda: [np.zeros(0), np.zeros(0)])
    at: list[Integers] = msgspec.field(default_factory=lambda: [np.zeros(0, np.int64), np.zeros(0, np.int64)])
    rows: int = 0

    def sort(self, frame: pl.DataFrame) -> _Sorted:
        """The frame's rows by curve."""
        names = frame["metric"].unique(maintain_order=True)
        known = np.array([self.codes.setdefault(name, len(self.codes)) for name in names], np.int64)
        code = known[frame["metric"].cast(pl.Enum(names)).to_physical().to_numpy()]
        order = np.argsort(code, kind="stable")
        code = code[order]
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        return _Sorted(order, code, starts, code[starts], frame[self.value].to_numpy()[order])

    def add(self, frame: pl.DataFrame) -> None:
        """Count the rows of one more frame."""
        found = self.sort(frame)
        more = len(self.codes) - len(self.counts)
        self.counts = np.append(self.counts, np.zeros(more, np.int64))
        self.counts[found.curve] += found.sizes
        for i, sign in enumerate((1.0, -1.0)):
            self.best[i] = np.append(self.best[i], np.full(more, np.inf))
            self.at[i] = np.append(self.at[i], np.full(more, -1))
            values = np.where(np.isfinite(found.values), sign * found.values, np.inf)
            least = np.minimum.reduceat(values, found.starts)
            here = np.flatnonzero((values == np.repeat(least, found.sizes)) & np.isfinite(values))
            curves, first = np.unique(found.code[here], return_index=True)
            value = values[here[first]]
            better = value < self.best[i][curves]
            self.best[i][curves[better]] = value[better]
            self.at[i][curves[better]] = self.rows + found.order[here[first[better]]]
        self.rows += frame.height


class _Thinning:
    """Chooses the rows of frame after frame. `stride` is, for each curve, how many of its rows one row represents."""

    def __init__(self, census: _Census, limit: int) -> None:
        self.census = census
        cap = _cap(census.counts, limit)
        self.stride = np.where(census.counts > cap, np.ceil(ROOM * census.counts / cap), 1).astype(np.int64)
        self.extremes = np.unique(np.concatenate(census.at))
        curves = len(census.counts)
        self.names = pl.Series(list(census.codes), dtype=pl.String)
        self.seen, self.events = np.zeros(curves, np.int64), np.zeros(curves, np.int64)
        self.last = {
            "finite": np.zeros(curves, np.int64),
            "session": np.full(curves, -1),
            "step": np.zeros(curves, np.int64),
        }
        self.rows = 0

    def take(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows that are kept."""
        found = self.census.sort(frame)
        stride, index = self.stride[found.code], self.seen[found.code] + found.rank()
        kept = (index % stride == 0) | (index == self.census.counts[found.code] - 1)
        kept |= self._breaks(frame, found, stride) | _jumps(found, stride)
        self.seen[found.curve] += found.sizes
        mask = np.zeros(frame.height, bool)
        mask[found.order[kept]] = True
        first, last = np.searchsorted(self.extremes, (self.rows, self.rows + frame.height))
        mask[self.extremes[first:last] - self.rows] = True
        self.rows += frame.height
        codes = np.empty(frame.height, np.int64)
        codes[found.order] = found.code
        # new names: the old ones would keep the memory of the whole frame
        return changed(frame.filter(pl.Series(mask)), [self.names.gather(codes[mask]).alias("metric")])

    def _breaks(self, frame: pl.DataFrame, found: _Sorted, stride: Integers) -> Mask:
        """Both sides of each break of a curve."""
        now = {
            "finite": np.isfinite(found.values).astype(np.int64),
            "session": frame["session"].fill_null(0).cast(pl.Int64).to_numpy()[found.order],
            "step": frame["step"].fill_null(0).to_numpy()[found.order],
        }
        before = {name: self._before(found, name, values) for name, values in now.items()}
        breaks = (now["finite"] != before["finite"]) | (now["session"] != before["session"])
        breaks |= now["step"] < before["step"]
        total = np.cumsum(breaks)
        ahead = (total - breaks)[found.starts]  # breaks of the curves before
        number = self.events[found.code] + total - np.repeat(ahead, found.sizes)
        self.events[found.curve] += np.diff(ahead, append=total[-1])
        breaks &= (number <= MAX_BREAKS_KEPT) | (number % (4 * stride) == 0)
        sides: Mask = breaks.copy()
        sides[:-1] |= breaks[1:] & (found.code[1:] == found.code[:-1])
        last = found.starts + found.sizes - 1  # the next frame may begin with a break
        sides[last] |= found.sizes >= 4 * stride[last]
        return sides

    def _before(self, found: _Sorted, name: str, values: Integers) -> Integers:
        """For each row, the value of the row before it in its curve."""
        before = np.empty_like(values)
        before[1:] = values[:-1]
        before[found.starts] = self.last[name][found.curve]
        self.last[name][found.curve] = values[found.starts + found.sizes - 1]
        return before


def _cap(counts: Integers, limit: int) -> int:
    """The largest number of rows a curve may have, so that all curves together have about `limit`."""
    ordered = np.sort(counts)
    left = limit - np.concatenate([[0], np.cumsum(ordered)[:-1]])
    caps = left // np.arange(len(ordered), 0, -1)  # for each curve, if all shorter ones stay whole
    first = int(np.argmax(ordered > caps))
    return max(int(caps[first]), 1)


def _jumps(found: _Sorted, stride: Integers) -> Mask:
    """Rows far from the middle of their neighbours."""
    values = found.values
    away = np.zeros(len(values))
    with np.errstate(invalid="ignore", over="ignore"):
        away[1:-1] = np.abs(values[1:-1] - (values[:-2] + values[2:]) / 2)
    away[found.starts] = 0.0
    away[found.starts + found.sizes - 1] = 0.0
    away[~np.isfinite(away)] = 0.0
    usual = np.add.reduceat(away, found.starts) / found.sizes
    far: Mask = (away > np.maximum(MIN_JUMP, 4 * stride) * np.repeat(usual, found.sizes)) & (away > 0)
    return far
