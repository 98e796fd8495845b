"""One Parquet file as a table of metrics: its columns, its axes, and the columns that are not read."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
import polars as pl

from loganalyst.model import SCHEMAS, Tables
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.tables.stepcolumns import AXES, NAMES, PARTS, Axes, matching, normalised

MAX_CHUNK_BYTES = 64 << 20  # compressed bytes read at once: the whole file may be one row group
MAX_COLUMNS = 20_000
_TRACKIO = {"run_id", "run_name", "timestamp"}  # columns of Trackio's export of a whole project
_NAMES_SHOWN = 10  # names of columns in a gap
DAMAGE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
_AXES = ["session", "step", "epoch", "time", "source", "line"]


class Place(NamedTuple):
    """What is read next: some metrics of the window that begins at `row`; without metrics, its axes."""

    row: int = 0
    columns: Sequence[str] = ()


class Broken(NamedTuple):
    """A metric that cannot be read, and why."""

    column: str
    why: str


Event: TypeAlias = Tables | Place | Broken  # what the decoding process sends


class _Column(msgspec.Struct):
    """One column of scalars: its name, the expression that reads it, its type."""

    name: str
    read: pl.Expr
    dtype: pl.DataType

    @property
    def is_number(self) -> bool:
        return self.dtype.is_numeric()

    @property
    def is_text(self) -> bool:
        return isinstance(self.dtype, pl.String | pl.Categorical | pl.Enum)

    @property
    def is_time(self) -> bool:
        return isinstance(self.dtype, pl.Datetime | pl.Date)

    def expression(self) -> pl.Expr:
        """The values as text or as Float64; dates and times as seconds since 1970."""
        if self.is_text:
            return self.read.cast(pl.String).alias(self.name)
        seconds = self.read.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64) / 1e6
        return (seconds if self.is_time else self.read.cast(pl.Float64)).alias(self.name)


@dataclass
class ParquetTable:
    """One file: its columns, its axes, and the columns that are not read."""

    path: Path
    window: int
    batch_values: int
    columns: dict[str, _Column] = field(init=False)
    rows: int = field(init=False)
    axes: Axes = field(init=False)
    unread: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        schema = self._scan().collect_schema()
        every = [c for name, dtype in schema.items() for c in _flat(name, pl.col(name), dtype)]
        self.columns = {c.name: c for c in every[:MAX_COLUMNS]}
        if len(every) > MAX_COLUMNS:
            self.unread[f"{len(every) - MAX_COLUMNS:,} more"] = "too many"
        self.rows = self._scan().select(pl.len()).collect().item()
        self.axes = Axes.choose({n: values for n, values in self._index(0).items() if n not in self._name_columns})

    @property
    def _name_columns(self) -> list[str]:
        """The text columns that name the metric or the part of the data, at most one of each."""
        texts = [name for name, column in self.columns.items() if column.is_text]
        return [*matching(texts, NAMES)[:1], *matching(texts, PARTS)[:1]]

    @property
    def _axis_columns(self) -> list[str]:
        """The columns that may be axes, by name; without such a name, the first column of dates or times."""
        usable = [n for n, c in self.columns.items() if c.is_number or c.is_time or c.is_text]
        named = [n for n in matching(usable, AXES) if not (self.columns[n].is_text and n in self._name_columns)]
        return named or [n for n, c in self.columns.items() if c.is_time][:1]

    def refused(self) -> str:
        """Why this is not a table of metrics (empty: it is one)."""
        if self.columns.keys() >= _TRACKIO:
            return "all runs of a Trackio project: name the database (.db) that this is a copy of"
        if self.axes.time or (self.axes.step and normalised(self.axes.step) != "index") or self.axes.epoch:
            return ""
        shown = ", ".join(list(self.columns)[:_NAMES_SHOWN])
        return f"not a table of metrics: no column counts steps, epochs or time (columns: {shown})"

    def windows(self, begin: Place, fatal: Collection[str]) -> Iterator[Event]:
        """The points from `begin` on. In the window where a decoder died, columns are read one by one."""
        metrics = [name for name, column in self.columns.items() if column.is_number and name not in self.axes.used]
        wide = self.batch_values // max(min(self.window, self.rows), 1)
        at_once = max(min(wide, MAX_CHUNK_BYTES * len(self.columns) // self.path.stat().st_size), 1)
        for start in range(0, self.rows, self.window):
            yield Place(start)
            index = self._placed(start)  # also for the windows before `begin`: the axes carry on from them
            if start < begin.row:
                continue
            again = bool(begin.columns) and start == begin.row
            left = dropwhile(lambda name: name != begin.columns[0], metrics) if again else metrics
            names = [name for name in left if name not in fatal]
            yield from self._window_points(index, start, names, 1 if begin.columns else at_once)

    def _window_points(self, index: pl.DataFrame, start: int, names: Sequence[str], at_once: int) -> Iterator[Event]:
        for i in range(0, len(names), at_once):
            yield Place(start, names[i : i + at_once])
            for values in self._values(names[i : i + at_once], start):
                if isinstance(values, Broken):
                    yield values
                else:
                    points = self._points(index, values)
                    yield from (Tables(points=piece) for piece in points.iter_slices(self.batch_values))

    def left_out(self) -> Iterator[Tables]:
        """A gap for the columns that are not metrics."""
        used = {*self.axes.used, *self._name_columns}
        left = {n: c for n, c in self.columns.items() if n not in used and not c.is_number and c.dtype != pl.Null}
        unread = {name: str(column.dtype) for name, column in left.items()}
        unread |= self.unread
        if unread:
            shown = ", ".join(f"{name} ({why})" for name, why in list(unread.items())[:_NAMES_SHOWN])
            more = ", …" if len(unread) > _NAMES_SHOWN else ""
            yield Tables(gaps=gap(self.path, f"{len(unread)} columns are not numeric: {shown}{more}"[:500]))

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False, hive_partitioning=False, use_statistics=False)

    def _window(self, names: Sequence[str], start: int) -> pl.DataFrame:
        rows = self._scan().slice(start, self.window).select(self.columns[name].expression() for name in names)
        return rows.collect(engine="streaming")

    def _index(self, start: int) -> dict[str, pl.Series]:
        names = [*self._axis_columns, *(name for name in self._name_columns if name not in self._axis_columns)]
        return {column.name: column for column in self._window(names, start).iter_columns()} if names else {}

    def _placed(self, start: int) -> pl.DataFrame:
        """Step, epoch and time of each row of a window, with the texts that name its metrics."""
        columns = self._index(start)
        rows = min(self.window, self.rows - start)
        index = self.axes.place(columns, rows)
        words = [columns[name].alias(f"word {i}") for i, name in enumerate(self._name_columns)]
        source = pl.lit(self.path.name).alias("source")
        return index.with_columns(words).with_columns(source, session=pl.lit(0), line=pl.lit(None, pl.Int64))

    def _values(self, names: Sequence[str], start: int) -> Iterator[pl.DataFrame | Broken]:
        """The columns of a window. Where one is damaged, the others are still read."""
        try:
            yield self._window(names, start)
        except DAMAGE as error:
            half = len(names) // 2
            if half:
                yield from self._values(names[:half], start)
                yield from self._values(names[half:], start)
            else:
                yield Broken(names[0], f"column {names[0]!r} from row {start:,} on: {short_error(error)}")

    def _points(self, index: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
        words = [name for name in index.columns if name.startswith("word ")]
        renamed = values.rename({name: f"value {i}" for i, name in enumerate(values.columns)})
        long = index.hstack(renamed).unpivot(
            renamed.columns, index=[*_AXES, *words], variable_name="column", value_name="value"
        )
        names = dict(zip(renamed.columns, values.columns, strict=True))
        long = long.drop_nulls("value").with_columns(
            metric=pl.col("column").replace_strict(names, return_dtype=pl.String)
        )
        for word, name in zip(words, self._name_columns, strict=True):
            metric, text = pl.col("metric"), pl.col(word)
            if normalised(name) in PARTS:
                full_name = pl.when(text.is_null()).then(metric).otherwise(text + "/" + metric)
            else:
                is_value = metric.str.to_lowercase().str.ends_with("value") & text.is_not_null()
                full_name = pl.when(is_value).then(text).otherwise(metric)
            long = long.with_columns(metric=full_name)
        return long.select([pl.col(name).cast(dtype) for name, dtype in SCHEMAS["points"].items()])


def _flat(name: str, read: pl.Expr, dtype: pl.DataType, depth: int = 8) -> Iterator[_Column]:
    """The column itself, or the columns of a struct's fields."""
    if isinstance(dtype, pl.Struct) and depth:
        for part in dtype.fields:
            inner = part.dtype if isinstance(part.dtype, pl.DataType) else part.dtype()
            yield from _flat(f"{name}/{part.name}", read.struct.field(part.name), inner, depth - 1)
    else:
        yield _Column(name, read, dtype)


def short_error(error: BaseException) -> str:
    """The first 200 characters of an error, on one line."""
    return " ".join(str(error).split())[:200]
