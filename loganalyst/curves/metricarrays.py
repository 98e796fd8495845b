"""The points by metric, as arrays: what a table of millions of rows is parted into before anything looks at a curve.

Each number is moved once, straight to its place. A grouping of the frame copies all of it first, its names too, and of
a log of 1 GB the new memory that this takes costs more time than the parting.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
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


def parted(points: pl.DataFrame, rows: pl.Series | None = None) -> Iterator[Parted]:
    """The metrics of the `rows` (None: all) of a `points` table, in order of first appearance.

    A NULL step takes the step of the point before. A metric without any step counts its rows. A column with one value
    shares memory: such arrays are read-only.
    """
    height = points.height if rows is None else len(rows)
    if not height:
        return
    # the rows that count are taken a block at a time: a second table would take as much memory again
    blocks = [_Block(points, rows, start) for start in range(0, height, BLOCK)]
    codes, metrics = _codes(points, rows)
    if points["value"].null_count():
        known = [block.rows()["value"].is_not_null().to_numpy() for block in blocks]
        blocks = [replace(block, known=None if mask.all() else mask) for block, mask in zip(blocks, known, strict=True)]
        codes = [code[mask] for code, mask in zip(codes, known, strict=True)]
    counts = np.array([np.bincount(code, minlength=len(metrics)) for code in codes])
    ends = np.cumsum(counts.sum(axis=0))
    same = _same(points, int(ends[-1]))
    columns = _moved(blocks, codes, counts, same) | same
    sources = _sources(blocks, codes, len(metrics))
    stepped = bool(columns["stepped"].all())  # asked once: of thousands of short curves each question costs
    for metric, source, (begin, end) in zip(metrics, sources, pairwise([0, *ends.tolist()]), strict=True):
        own = {name: column[begin:end] for name, column in columns.items()}
        steps, told = own.pop("step"), own.pop("stepped")
        steps = steps if stepped else _filled(steps, told)
        yield Parted(metric, steps, own["value"], own["time"], own["epoch"], own["session"], own["line"], source)


@dataclass(frozen=True)
class _Block:
    """BLOCK of the rows that count, from `start` on; `known` are those with a value (None: all)."""

    points: pl.DataFrame
    counting: pl.Series | None
    start: int
    known: NDArray[np.bool_] | None = None

    def rows(self) -> pl.DataFrame:
        """The rows of the block."""
        if self.counting is None:
            rows = self.points.slice(self.start, BLOCK)
        else:
            rows = self.points[self.counting.slice(self.start, BLOCK)]
        return rows if self.known is None else rows.filter(pl.Series(self.known))


def _codes(points: pl.DataFrame, rows: pl.Series | None) -> tuple[list[NDArray[np.int64]], pl.Series]:
    """The number of each row's metric, block by block, and the metrics in order of first appearance."""
    metrics = points["metric"].unique(maintain_order=True)
    code = points["metric"].cast(pl.Enum(metrics)).to_physical()
    if rows is not None:
        code = code[rows]
        order = code.unique(maintain_order=True)
        number = np.zeros(len(metrics), np.uint32)
        number[order.to_numpy()] = np.arange(len(order))
        metrics, code = metrics.gather(order), pl.Series(number[code.to_numpy()])
    return [code.slice(start, BLOCK).to_numpy() for start in range(0, len(code), BLOCK)], metrics


def _sources(blocks: list[_Block], codes: list[NDArray[np.int64]], metrics: int) -> list[str | None]:
    """The file of each metric's last point."""
    last: dict[int, tuple[int, int]] = {}
    for k, code in enumerate(codes):
        curves, back = np.unique(code[::-1], return_index=True)
        last |= {curve: (k, len(code) - 1 - at) for curve, at in zip(curves.tolist(), back.tolist(), strict=True)}
    by_block = {k: blocks[k].rows()["source"] for k in {k for k, _ in last.values()}}
    return [by_block[last[m][0]][last[m][1]] if m in last else None for m in range(metrics)]


def _same(points: pl.DataFrame, rows: int) -> dict[str, NDArray[Any]]:
    """The columns that are the same in all points, as far as that is often so, for so many `rows`."""
    unknown = {name for name in ("time", "epoch") if points[name].null_count() == points.height}
    found: dict[str, NDArray[Any]] = {name: np.broadcast_to(np.nan, rows) for name in unknown}
    session = points["session"]
    if points.height and not session.null_count() and session.min() == session.max():
        found["session"] = np.broadcast_to(np.int32(session[0]), rows)
    return found


def _moved(
    blocks: list[_Block], codes: list[NDArray[Any]], counts: Integers, same: Container[str]
) -> dict[str, NDArray[Any]]:
    """The columns of the blocks, one metric after another, without columns that are the `same` in all rows.

    `counts` says how many rows each block has of each metric.
    """
    asked = {name: of for name, of in _COLUMNS.items() if name not in same}
    out = {name: np.empty(counts.sum(), of(blocks[0].points.clear()).dtype) for name, of in asked.items()}
    total = counts.sum(axis=0)
    begins = np.cumsum(total) - total + np.cumsum(counts, axis=0) - counts  # of each block's rows of each metric

    def move(k: int) -> None:
        order, count = np.argsort(codes[k], kind="stable"), counts[k]
        places = np.repeat(begins[k] - np.cumsum(count) + count, count) + np.arange(len(order))
        rows = blocks[k].rows()
        for name, of in asked.items():
            out[name][places] = of(rows)[order]

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
