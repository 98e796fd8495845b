"""The points by metric, as arrays: what a table of millions of rows is parted into before anything looks at a curve.

Each number is moved once, straight to its place. A grouping of the frame copies all of it first, its names too, and of
a log of 1 GB the new memory that this takes costs more time than the parting.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

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


def parted(points: pl.DataFrame) -> Iterator[Parted]:
    """The metrics of a `points` table in order of first appearance. A step that is NULL is that of the point before;
    where a metric has none at all, they are the numbers of its rows.
    """
    if not points.height:
        return
    metrics = points["metric"].unique(maintain_order=True)
    known = points.filter(pl.col("value").is_not_null()) if points["value"].null_count() else points
    blocks = [*known.iter_slices(BLOCK)] or [known]
    codes = [block["metric"].cast(pl.Enum(metrics)).to_physical().to_numpy() for block in blocks]
    counts = np.array([np.bincount(code, minlength=len(metrics)) for code in codes])
    ends = np.cumsum(counts.sum(axis=0))
    columns = _moved(blocks, codes, counts, ends - counts.sum(axis=0))
    for metric, (begin, end) in zip(metrics, pairwise([0, *ends.tolist()]), strict=True):
        step, stepped, row, value, time, epoch, session, line = (column[begin:end] for column in columns)
        source = known["source"][int(row[-1])] if begin < end else None
        yield Parted(metric, _filled(step, stepped), value, time, epoch, session, line, source)


def _moved(
    blocks: list[pl.DataFrame], codes: list[NDArray[Any]], counts: Integers, begins: Integers
) -> list[NDArray[Any]]:
    """The columns of the blocks, one metric behind the other; a block has these `counts` of each, and `begins` is where
    they begin.
    """
    out = [np.empty(counts.sum(), column.dtype) for column in _columns(blocks[0].clear(), 0)]
    row = 0
    for block, code, count in zip(blocks, codes, counts, strict=True):
        order = np.argsort(code, kind="stable")
        places = np.repeat(begins - np.cumsum(count) + count, count) + np.arange(len(code))
        for column, place in zip(_columns(block, row), out, strict=True):
            place[places] = column[order]
        begins = begins + count
        row += len(code)
    return out


def _columns(points: pl.DataFrame, row: int) -> list[NDArray[Any]]:
    """Step, whether there is one, number of the row (the first is `row`), and the fields of `Parted` from `values` on."""
    step = points["step"]
    return [
        step.fill_null(0).to_numpy(),
        step.is_not_null().to_numpy(),
        np.arange(row, row + len(step)),
        points["value"].to_numpy(),
        points["time"].dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6,  # NULL becomes NaN, here and below
        points["epoch"].to_numpy(),
        points["session"].fill_null(0).to_numpy(),
        points["line"].fill_null(-1).to_numpy(),
    ]


def _filled(steps: Integers, stepped: NDArray[np.bool_]) -> Integers:
    """The steps, those that are none (0 here) from the one before."""
    if stepped.all():
        return steps
    if not stepped.any():
        return np.arange(len(steps))
    before = np.maximum.accumulate(np.where(stepped, np.arange(len(steps)), 0))
    return np.asarray(steps[before])
