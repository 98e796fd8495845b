"""The points by metric, as arrays: a table of millions of rows is split before any curve is examined.

Each number is moved once, directly to its place. Grouping the frame would first copy all of it, including the names.
For a log of 1 GB, the additional memory costs more time than the splitting.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.threads import side_by_side

BLOCK_ROWS = 1 << 16  # rows moved at a time: they and their order fit in the processor's cache

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class MetricArrays(NamedTuple):
    """The points of one metric in file order, without points whose value is NULL.

    Times are in seconds. Unknown times and epochs are NaN, unknown sessions 0, unknown lines -1. `source` is the file
    of the last point.
    """

    metric: str
    steps: Integers
    values: Floats
    times: Floats
    epochs: Floats
    sessions: NDArray[np.int32]
    lines: Integers
    source: str | None


_COLUMNS: Mapping[str, Callable[[pl.DataFrame], NDArray[Any]]] = {  # NULL becomes NaN unless filled here
    "step": lambda rows: rows["step"].fill_null(0).to_numpy(),
    "stepped": lambda rows: rows["step"].is_not_null().to_numpy(),
    "value": lambda rows: rows["value"].to_numpy(),
    "time": lambda rows: rows["time"].dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6,
    "epoch": lambda rows: rows["epoch"].to_numpy(),
    "session": lambda rows: rows["session"].fill_null(0).to_numpy(),
    "line": lambda rows: rows["line"].fill_null(-1).to_numpy(),
}


def by_metric(
    points: pl.DataFrame, rows: pl.Series | None = None, *, block_rows: int = BLOCK_ROWS
) -> Iterator[MetricArrays]:
    """The metrics in the `rows` (None: all) of a `points` table, in order of first appearance.

    A NULL step takes the step of the previous point. A metric without any step counts its rows. Columns with one value
    share memory; these arrays are read-only.
    """
    height = points.height if rows is None else len(rows)
    if not height:
        return
    # rows are taken a block at a time, because a second table would double the memory
    blocks = [_Block(points, rows, start, block_rows) for start in range(0, height, block_rows)]
    codes, metrics = _codes(points, rows, block_rows)
    if points["value"].null_count():
        known = [block.rows()["value"].is_not_null().to_numpy() for block in blocks]
        blocks = [replace(block, known=None if mask.all() else mask) for block, mask in zip(blocks, known, strict=True)]
        codes = [code[mask] for code, mask in zip(codes, known, strict=True)]
    counts = np.array([np.bincount(code, minlength=len(metrics)) for code in codes])
    ends = np.cumsum(counts.sum(axis=0))
    same = _constant_columns(points, int(ends[-1]))
    columns = _sorted_columns(blocks, codes, counts, same) | same
    sources = _sources(blocks, codes, len(metrics))
    stepped = bool(
        columns["stepped"].all()
    )  # checked once, because a check of each of thousands of short curves costs time
    for metric, source, (begin, end) in zip(metrics, sources, pairwise([0, *ends.tolist()]), strict=True):
        arrays = {name: column[begin:end] for name, column in columns.items()}
        steps, has_step = arrays.pop("step"), arrays.pop("stepped")
        steps = steps if stepped else _filled(steps, has_step)
        yield MetricArrays(
            metric, steps, arrays["value"], arrays["time"], arrays["epoch"], arrays["session"], arrays["line"], source
        )


@dataclass(frozen=True)
class _Block:
    """`size` of the rows that count, starting at `start`; `known` marks rows with a value (None: all)."""

    points: pl.DataFrame
    counting: pl.Series | None
    start: int
    size: int
    known: NDArray[np.bool_] | None = None

    def rows(self) -> pl.DataFrame:
        """The rows of the block."""
        if self.counting is None:
            rows = self.points.slice(self.start, self.size)
        else:
            rows = self.points[self.counting.slice(self.start, self.size)]
        return rows if self.known is None else rows.filter(pl.Series(self.known))


def _codes(points: pl.DataFrame, rows: pl.Series | None, block_rows: int) -> tuple[list[NDArray[np.int64]], pl.Series]:
    """The number of each row's metric, block by block, and the metrics in order of first appearance."""
    metrics = points["metric"].unique(maintain_order=True)
    code = points["metric"].cast(pl.Enum(metrics)).to_physical()
    if rows is not None:
        code = code[rows]
        order = code.unique(maintain_order=True)
        number = np.zeros(len(metrics), np.uint32)
        number[order.to_numpy()] = np.arange(len(order))
        metrics, code = metrics.gather(order), pl.Series(number[code.to_numpy()])
    return [code.slice(start, block_rows).to_numpy() for start in range(0, len(code), block_rows)], metrics


def _sources(blocks: list[_Block], codes: list[NDArray[np.int64]], metrics: int) -> list[str | None]:
    """The file of each metric's last point."""
    last: dict[int, tuple[int, int]] = {}
    for k, code in enumerate(codes):
        curves, back = np.unique(code[::-1], return_index=True)
        last |= {curve: (k, len(code) - 1 - at) for curve, at in zip(curves.tolist(), back.tolist(), strict=True)}
    by_block = {k: blocks[k].rows()["source"] for k in {k for k, _ in last.values()}}
    return [by_block[last[m][0]][last[m][1]] if m in last else None for m in range(metrics)]


def _constant_columns(points: pl.DataFrame, rows: int) -> dict[str, NDArray[Any]]:
    """The columns that often have one value for all points, where that is so here; `rows` is their length."""
    unknown = {name for name in ("time", "epoch") if points[name].null_count() == points.height}
    found: dict[str, NDArray[Any]] = {name: np.broadcast_to(np.nan, rows) for name in unknown}
    session = points["session"]
    if points.height and not session.null_count() and session.min() == session.max():
        found["session"] = np.broadcast_to(np.int32(session[0]), rows)
    return found


def _sorted_columns(
    blocks: list[_Block], codes: list[NDArray[Any]], counts: Integers, same: Container[str]
) -> dict[str, NDArray[Any]]:
    """The columns of the blocks sorted by metric, without the `same` columns, which have one value.

    `counts` says how many rows each block has of each metric.
    """
    columns = {name: values for name, values in _COLUMNS.items() if name not in same}
    out = {name: np.empty(counts.sum(), values(blocks[0].points.clear()).dtype) for name, values in columns.items()}
    total = counts.sum(axis=0)
    begins = np.cumsum(total) - total + np.cumsum(counts, axis=0) - counts  # where each block's rows of each metric go

    def move(k: int) -> None:
        order, count = np.argsort(codes[k], kind="stable"), counts[k]
        places = np.repeat(begins[k] - np.cumsum(count) + count, count) + np.arange(len(order))
        rows = blocks[k].rows()
        for name, values in columns.items():
            out[name][places] = values(rows)[order]

    side_by_side(move, range(len(blocks)), values=int(counts.sum()))
    return out


def _filled(steps: Integers, stepped: NDArray[np.bool_]) -> Integers:
    """The steps, with missing ones (0 here) taken from the previous point."""
    if stepped.all():
        return steps
    if not stepped.any():
        return np.arange(len(steps))
    before = np.maximum.accumulate(np.where(stepped, np.arange(len(steps)), 0))
    return np.asarray(steps[before])
