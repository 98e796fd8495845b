"""The numbers of a log as arrays: records (one a line or block with numbers) and their points.

Arrays are cut, joined and stored without queries. NaN is a counter that is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

NONE = -1  # series code of a record without metrics

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Table:
    """Columns (arrays of one length) that are selected and joined row by row."""

    def columns(self) -> list[NDArray[Any]]:
        """The arrays in the order of the fields."""
        return [getattr(self, one.name) for one in fields(self)]  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.columns()[0])

    def __getitem__(self, rows: "slice | NDArray[Any]") -> Self:
        """Some rows."""
        return type(self)(*(column[rows] for column in self.columns()))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts (at least one)."""
        if len(parts) == 1:
            return parts[0]
        return cls(*map(np.concatenate, zip(*(part.columns() for part in parts), strict=True)))


@dataclass(frozen=True)
class Records(Table):
    """row: the row in the log; session; series: code of the first metric; the flags of its shape; its counters."""

    row: Integers
    session: Integers
    series: Integers
    bar: Mask
    keras: Mask
    held_out: Mask
    header: Mask
    step: Floats
    batch: Floats
    total: Floats
    epoch: Floats


@dataclass(frozen=True)
class Points(Table):
    """row: the record's row; metric: its code; the value; line and time: of the line that holds the number."""

    row: Integers
    metric: NDArray[np.uint32]
    value: Floats
    line: Integers
    time: NDArray[np.datetime64]


@dataclass(frozen=True)
class Counted(Table):
    """Records with known epochs. `i` is the step (where `stepped`) or counter; `has_epoch`: there is an epoch;
    `refreshed`: the next record of the same step overwrites it; `batch`: the counter of a pass over held-out data.
    """

    row: Integers
    session: Integers
    series: Integers
    keras: Mask
    held_out: Mask
    stepped: Mask
    has_epoch: Mask
    refreshed: Mask
    total: Floats
    i: Floats
    epoch: Floats
    batch: Floats


class Grouping(msgspec.Struct, frozen=True):
    """Rows by group. `order` has the rows of the first group, then those of the second, each in order; `starts` has the
    place in `order` where each group begins; `keys` identifies the groups.
    """

    order: Integers
    starts: Integers
    keys: list[tuple[int, int]]

    @classmethod
    def by(cls, first: NDArray[Any], second: NDArray[Any]) -> "Grouping":
        """The groups of rows with the same two whole numbers (`two` at least -1), in the order they are met."""
        if not len(first):
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), [])
        key, low, width = _keys(first, second)
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        return cls(order, starts, _pairs(key[starts], low, width))

    @property
    def sizes(self) -> Integers:
        """The number of rows of each group."""
        return np.diff(self.starts, append=len(self.order))

    def spread(self, values: Sequence[Any] | NDArray[Any], dtype: type = np.float64) -> NDArray[Any]:
        """A value for each group, repeated for its rows in `order`; None is NaN."""
        return np.repeat(np.array(values, dtype), self.sizes)

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values in `order`, put back into the order of the rows."""
        out = np.empty_like(values)
        out[self.order] = values
        return out


def counted(first: NDArray[Any], second: NDArray[Any]) -> dict[tuple[int, int], int]:
    """The number of rows of each group, as `Grouping.by` groups them."""
    key, low, width = _keys(first, second)
    if key.dtype == np.uint16:
        count = np.bincount(key)
        found = np.flatnonzero(count)
        count = count[found]
    else:
        found, count = np.unique(key, return_counts=True)
    return dict(zip(_pairs(found, low, width), count.tolist(), strict=True))


def _keys(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], int, int]:
    """One number for two; in 16 bits where that suffices, because numpy sorts those by counting."""
    low, width = int(first.min()), int(second.max()) + 2
    if (int(first.max()) - low + 1) * width <= 1 << 16:
        return (first - low).astype(np.uint16) * np.uint16(width) + second.astype(np.uint16) + np.uint16(1), low, width
    return (first.astype(np.int64) - low) * width + (second.astype(np.int64) + 1), low, width


def _pairs(keys: NDArray[Any], low: int, width: int) -> list[tuple[int, int]]:
    return [(key // width + low, key % width - 1) for key in keys.tolist()]


def filled(values: Floats, session: Integers, before: Floats | float) -> Floats:
    """Missing values replaced by the last one of the same session, or by `before` (of each row) where there is none."""
    known = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
    same = (known >= 0) & (session[known] == session)
    return np.where(same, values[known], before)


def changes(*columns: NDArray[Any]) -> Mask:
    """Where any column differs from the row before; true for the first row. NaN equals NaN."""
    changed = np.zeros(len(columns[0]), bool)
    changed[:1] = True
    for column in columns:
        differs = column[1:] != column[:-1]
        if column.dtype.kind == "f":
            differs &= ~(np.isnan(column[1:]) & np.isnan(column[:-1]))
        changed[1:] |= differs
    return changed
