"""Tables as JSON: full precision, constant columns as one value, empty columns omitted, times since the first one."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, Time, table

START = datetime(2000, 1, 1, tzinfo=UTC)  # the first time of every run after it is read back
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
MAX_ROWS = 20_000_000  # of one table
MAX_CONSTANT_ROWS = 10_000  # rows of a table without a listed column, so that a short text cannot become huge
FIRST, LAST = -62_000_000_000_000_000, 250_000_000_000_000_000  # microseconds since 1970: within the years 1 to 9999
Packed = dict[str, Any]


def pack(rows: pl.DataFrame) -> Packed:
    """The frame as `rows` and its non-empty columns; times are microseconds after START."""
    columns = (rows[name] for name in rows.columns if rows[name].null_count() < rows.height)
    return {"rows": rows.height, **{column.name: _packed(column) for column in columns}}


def _packed(column: pl.Series) -> Any:
    """The values, or the single value if all are equal."""
    if column.dtype == Time:
        column = column.dt.epoch("us") - int(START.timestamp()) * 1_000_000
    alike = not column.dtype.is_nested() and column.n_unique() == 1 and (column[0] or not column.dtype.is_float())
    if alike:  # never for zeros of floats: 0.0 equals -0.0
        return plain(column[0])
    odd = column.dtype.is_nested() or (column.dtype.is_float() and not column.is_finite().all())
    return [plain(value) for value in column.to_list()] if odd else column.to_list()


def plain(value: Any) -> Any:
    """The value in JSON: NaN and infinities as words."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return [plain(item) for item in value] if isinstance(value, list) else value


def unpack(name: str, packed: Mapping[str, Any]) -> pl.DataFrame:
    """The frame of table `name`. Raises ValueError, TypeError or a polars error for invalid data."""
    rows = packed["rows"]
    if not isinstance(rows, int) or isinstance(rows, bool) or not 0 <= rows <= MAX_ROWS:
        raise ValueError(f"{name}: rows is not a number from 0 to {MAX_ROWS:,}")
    given = {key: value for key, value in packed.items() if key != "rows"}
    if unknown := next((key for key in given if key not in SCHEMAS[name]), None):
        raise ValueError(f"{name} has no column {unknown[:60]!r}")
    if rows > MAX_CONSTANT_ROWS and not any(isinstance(value, list) for value in given.values()):
        raise ValueError(f"{name}: more than {MAX_CONSTANT_ROWS:,} rows need a column with a value for each row")
    columns = {key: _column(name, key, value, rows) for key, value in given.items()}
    return table(name, columns) if rows else table(name)


def _column(name: str, key: str, value: Any, rows: int) -> pl.Series:
    dtype = SCHEMAS[name][key]
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and len(values) != rows:
        raise ValueError(f"{name}: {key} has {len(values):,} values of {rows:,}")
    if not all(_fits(item, nested=dtype.is_nested()) for item in values):
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


def _fits(value: Any, *, nested: bool) -> bool:
    """Whether polars may infer the type of a value: for deeply nested lists it takes gigabytes."""
    if isinstance(value, list):
        return nested and not any(isinstance(item, list | dict) for item in value)
    return not isinstance(value, dict)


def _numbers(values: list[Any]) -> list[Any]:
    """The values, with the words `NaN` and `Infinity` as numbers."""
    return [NOT_FINITE[v] if isinstance(v, str) else _numbers(v) if isinstance(v, list) else _float(v) for v in values]


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def since_start(rows: pl.DataFrame, first: datetime) -> pl.DataFrame:
    """The frame with its times shifted so that `first` becomes START."""
    return rows.with_columns(pl.col(Time) - (first - START))


def first_time(frames: Sequence[pl.DataFrame]) -> datetime | None:
    """The earliest time in any of the frames."""
    columns = (frame[name] for frame in frames for name, dtype in frame.schema.items() if dtype == Time)
    times = [t for column in columns if isinstance(t := column.min(), datetime)]
    return min(times, default=None)


def microseconds(time: datetime | None, first: datetime | None) -> int | None:
    """Microseconds from `first` to a time, as in a packed table."""
    return None if time is None or first is None else (time - first) // timedelta(microseconds=1)
