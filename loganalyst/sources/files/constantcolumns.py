"""Columns of one value, made once: the batches of a reader share their memory."""

import polars as pl

from loganalyst.model import constant

DataType = pl.DataType | type[pl.DataType]

_MOST = 1 << 23  # cells held


class Constants:
    """The constant columns of one file, as long as any was asked for."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, DataType], pl.Series] = {}

    def column(self, value: object, rows: int, dtype: DataType) -> pl.Series:
        """`rows` times the value, without a name."""
        made = self._made.get((value, dtype))
        if made is None or len(made) < rows:
            if sum(map(len, self._made.values())) > _MOST:  # names that never come again
                self._made.clear()
            made = self._made[value, dtype] = constant(value, rows, dtype)
        return made.head(rows)
