"""The points by metric, as arrays: what a table of millions of rows is parted into before anything looks at a curve.

Each number is moved once, straight to its place. A grouping of the frame copies all of it first, its names too, and of
a log of 1 GB the new memory that this takes costs more time than the parting.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.threads import side_by_side

BLOCK = 1 << 16  # rows at a time: they and their order stay in the processor's cache

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Parted(NamedTuple):
    """The points of one metric in file order, without those whose value is NULL: times in seconds, NaN for times and
    epochs that are not known, 0 for such sessions, -1 for such lines; `source` is the file of the last point.
    """

    metric: str
    steps: Integers
    values: Floats
    times: Floats
    epochs: Floats
    sessions: NDArray[np.int32]
    lines: Integers
    source: str | None


_COLUMNS: Mapping[str, Callable[[pl.DataFrame], NDArray[Any]]] = {  # NULL becomes NaN where nothing else is said
    "step": lambda rows: rows["step"].fill_null(0).to_numpy(),
    "stepped": lambda rows: rows["step"].is_not_null().to_numpy(),
    "value": lambda rows: rows["value"].to_numpy(),
    "time": lambda rows: rows["time"].dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6,
    "epoch": lambda rows: rows["epoch"].to_numpy(),
    "session": lambda rows: rows["session"].fill_null(0).to_numpy(),
    "line": lambda rows: rows["line"].fill_null(-1).to_numpy(),
}


def parted(points: pl.DataFrame) -> Iterator[Parted]:
    """The metrics of a `points` table in order of first appearance. A step that is NULL is that of the point before;
    where a metric has none at all, they are the numbers of its rows. What is the same in all rows is not written out:
    such arrays are read-only.
    """
    if not points.height:
        return
    metrics = points["metric"].unique(maintain_order=True)
    known = points.filter(pl.col("value").is_not_null()) if points["value"].null_count() else points
    blocks = [*known.iter_slices(BLOCK)] or [known]
    codes = [block["metric"].cast(pl.Enum(metrics)).to_physical().to_numpy() for block in blocks]
    counts = np.array([np.bincount(code, minlength=len(metrics)) for code in codes])
    ends = np.cumsum(counts.sum(axis=0))
    same = _same(known)
    columns = _moved(blocks, codes, counts, same) | same
    last = np.zeros(len(metrics), np.int64)
    for row, code in zip(range(0, known.height, BLOCK), codes, strict=False):
        last[code] = np.arange(row, row + len(code))  # of several rows of a metric the last one stays
    for metric, row, (begin, end) in zip(metrics, last.tolist(), pairwise([0, *ends.tolist()]), strict=True):
        own = {name: column[begin:end] for name, column in columns.items()}
        steps = _filled(own.pop("step"), own.pop("stepped"))
        source = known["source"][row] if begin < end else None
        yield Parted(metric, steps, own["value"], own["time"], own["epoch"], own["session"], own["line"], source)


def _same(points: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """The columns that are the same in all rows, as far as that is often so."""
    unknown = {name for name in ("time", "epoch") if points[name].null_count() == points.height}
    found: dict[str, NDArray[Any]] = {name: np.broadcast_to(np.nan, points.height) for name in unknown}
    session = points["session"]
    if points.height and not session.null_count() and session.min() == session.max():
        found["session"] = np.broadcast_to(np.int32(session[0]), points.height)
    return found


def _moved(
    blocks: list[pl.DataFrame], codes: list[NDArray[Any]], counts: Integers, same: Container[str]
) -> dict[str, NDArray[Any]]:
    """The columns of the blocks but those that are the `same` in all rows, one metric behind the other; a block has these
    `counts` of each metric.
    """
    asked = {name: of for name, of in _COLUMNS.items() if name not in same}
    out = {name: np.empty(counts.sum(), of(blocks[0].clear()).dtype) for name, of in asked.items()}
    total = counts.sum(axis=0)
    begins = np.cumsum(total) - total + np.cumsum(counts, axis=0) - counts  # of each block's rows of each metric

    def move(k: int) -> None:
        order, count = np.argsort(codes[k], kind="stable"), counts[k]
        places = np.repeat(begins[k] - np.cumsum(count) + count, count) + np.arange(len(order))
        for name, of in asked.items():
            out[name][places] = of(blocks[k])[order]

    side_by_side(move, range(len(blocks)), values=int(counts.sum()))
    return out


def _filled(steps: Integers, stepped: NDArray[np.bool_]) -> Integers:
    """The steps, those that are none (0 here) from the one before."""
    if stepped.all():
        return steps
    if not stepped.any():
        return np.arange(len(steps))
    before = np.maximum.accumulate(np.where(stepped, np.arange(len(steps)), 0))
    return np.asarray(steps[before])
