"""Columns of one value, made once, so that the batches of a reader share their memory."""

import polars as pl

from loganalyst.model import constant

DataType = pl.DataType | type[pl.DataType]

_MAX_CELLS = 1 << 23  # of all columns that are kept


class Constants:
    """The constant columns of one file, each as long as the longest that was requested."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, DataType], pl.Series] = {}

    def column(self, value: object, rows: int, dtype: DataType) -> pl.Series:
        """A column with `rows` times the value, without a name."""
        made = self._made.get((value, dtype))
        if made is None or len(made) < rows:
            if sum(map(len, self._made.values())) > _MAX_CELLS:  # names that do not come again
                self._made.clear()
            made = self._made[value, dtype] = constant(value, rows, dtype)
        return made.head(rows)
