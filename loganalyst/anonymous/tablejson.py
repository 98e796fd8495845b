"""Tables as JSON: a constant column is one value, an empty one is left out; numbers keep all digits; times are
relative.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, Time, table

START = datetime(2000, 1, 1, tzinfo=UTC)  # the first time of every run that is read back from a document
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
MAX_ROWS = 20_000_000  # rows of one table
MAX_ALIKE = 10_000  # rows of constant columns only, so that a short text cannot claim many rows
FIRST, LAST = -62_000_000_000_000_000, 250_000_000_000_000_000  # microseconds since 1970: within the years 1 to 9999
Packed = dict[str, Any]


def pack(rows: pl.DataFrame) -> Packed:
    """The frame as its number of `rows` and its columns; times are microseconds after START."""
    filled = (rows[name] for name in rows.columns if rows[name].null_count() < rows.height)
    return {"rows": rows.height, **{column.name: _pack_column(column) for column in filled}}


def _pack_column(column: pl.Series) -> Any:
    """The values, or the one value of a constant column."""
    if column.dtype == Time:
        column = column.dt.epoch("us") - int(START.timestamp()) * 1_000_000
    is_constant = not column.dtype.is_nested() and column.n_unique() == 1 and (column[0] or not column.dtype.is_float())
    if is_constant:  # not for 0.0, which may be equal to -0.0
        return plain(column[0])
    needs_conversion = column.dtype.is_nested() or (column.dtype.is_float() and not column.is_finite().all())
    return [plain(value) for value in column.to_list()] if needs_conversion else column.to_list()


def plain(value: Any) -> Any:
    """The value for JSON: NaN and infinities become words."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return [plain(item) for item in value] if isinstance(value, list) else value


def unpack(name: str, packed: Mapping[str, Any]) -> pl.DataFrame:
    """The frame of table `name`. Raises ValueError, TypeError or an error of polars for invalid data."""
    rows = packed["rows"]
    if not isinstance(rows, int) or isinstance(rows, bool) or not 0 <= rows <= MAX_ROWS:
        raise ValueError(f"{name}: rows is not a number from 0 to {MAX_ROWS:,}")
    columns = {key: value for key, value in packed.items() if key != "rows"}
    if unknown := next((key for key in columns if key not in SCHEMAS[name]), None):
        raise ValueError(f"{name} has no column {unknown[:60]!r}")
    if rows > MAX_ALIKE and not any(isinstance(value, list) for value in columns.values()):
        raise ValueError(f"{name}: more than {MAX_ALIKE:,} rows need a column with a value for each")
    series = {key: _column(name, key, value, rows) for key, value in columns.items()}
    return table(name, series) if rows else table(name)


def _column(name: str, key: str, value: Any, rows: int) -> pl.Series:
    dtype = SCHEMAS[name][key]
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and len(values) != rows:
        raise ValueError(f"{name}: {key} has {len(values):,} values of {rows:,}")
    if not all(_is_safe(item, nested=dtype.is_nested()) for item in values):
        raise ValueError(f"{name}: {key} has values that are not {dtype}")
    if dtype == Time:
        column = pl.Series(key, values, dtype=pl.Int64, strict=True) + int(START.timestamp()) * 1_000_000
        if not column.drop_nulls().is_between(FIRST, LAST).all():
            raise ValueError(f"{name}: {key} has times beyond the years 1 to 9999")
    elif dtype in (pl.Float64, pl.List(pl.Float64)):
        column = pl.Series(key, _numbers(values), dtype=dtype, strict=True)
    else:
        column = pl.Series(key, values, dtype=dtype, strict=True)
    return (column if isinstance(value, list) else column.new_from_index(0, rows)).cast(dtype)


def _is_safe(value: Any, *, nested: bool) -> bool:
    """Whether polars may infer its type: deeply nested lists make polars allocate gigabytes."""
    if isinstance(value, list):
        return nested and not any(isinstance(item, list | dict) for item in value)
    return not isinstance(value, dict)


def _numbers(values: list[Any]) -> list[Any]:
    """The values with the words for non-finite numbers converted."""
    return [NOT_FINITE[v] if isinstance(v, str) else _numbers(v) if isinstance(v, list) else _float(v) for v in values]


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def since_start(rows: pl.DataFrame, first: datetime) -> pl.DataFrame:
    """The frame with its times shifted so that `first` is START."""
    return rows.with_columns(pl.col(Time) - (first - START))


def first_time(frames: Sequence[pl.DataFrame]) -> datetime | None:
    """The earliest time in any of the frames."""
    columns = (frame[name] for frame in frames for name, dtype in frame.schema.items() if dtype == Time)
    times = [t for column in columns if isinstance(t := column.min(), datetime)]
    return min(times, default=None)


def microseconds(time: datetime | None, first: datetime | None) -> int | None:
    """A time in packed form, with `first` at START."""
    return None if time is None or first is None else (time - first) // timedelta(microseconds=1)
