"""Parquet tables of metrics: exported W&B histories, and any table with a column that counts steps, epochs or time.

A row is a logged step, a column of numbers a metric; in a long table a column of texts names the metric. The fields of
a struct are columns of their own, joined with ``/``; lists (histograms), texts and truth values are told as a gap. A
null is no value, NaN is one. Columns are read a few at a time, rows window by window, however large the row groups are.
Polars has no bounds for what a damaged page may ask of it and then ends the process: so it works in one of its own,
and where that ends, another goes on without the column that was being read.
Format: https://parquet.apache.org/docs/file-format/
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import NamedTuple, TypeAlias

import polars as pl

from loganalyst import processes
from loganalyst.model import SCHEMAS, Tables
from loganalyst.opening import checked, opened
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.tables.stepcolumns import AXES, NAMES, PARTS, Axes, known, plain

NAME = "parquet"

WINDOW = 1 << 17  # rows
VALUES = 1 << 18  # of a batch
CHUNKS = 64 << 20  # bytes of packed columns at once, for the whole file may be one row group
MOST_COLUMNS = 20_000
MOST_DEATHS = 12  # of decoders of one file; then the rest of it is not read
_SHOWN = 10  # names of columns in a gap
_ENDS = {b"PAR1": "", b"PARE": "encrypted"}
_BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
_AXES = ["session", "step", "epoch", "time", "source", "line"]


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely the file is Parquet: it begins with its mark."""
    return 0.9 if head[:4] in _ENDS else 0.0


class Place(NamedTuple):
    """What is read next: these metrics of the window that begins at a row; without any, where its rows stand."""

    row: int = 0
    columns: Sequence[str] = ()


class Broken(NamedTuple):
    """A metric that cannot be read, and why."""

    column: str
    why: str


Told: TypeAlias = Tables | Place | Broken


def read(path: Path) -> Iterator[Tables]:
    """The table's points, window by window and within it column by column; what is not read as gaps."""
    checked(path)  # what the other process opens
    place, fatal, broken = Place(), set[str](), dict[str, str]()
    for left in range(MOST_DEATHS, 0, -1):
        try:
            for told in processes.stream(__name__, "tables", path, WINDOW, place, fatal):
                if isinstance(told, Tables):
                    yield told
                elif isinstance(told, Place):
                    place = told
                else:
                    broken.setdefault(*told)
            break
        except processes.DiedError as died:
            if not place.columns or left == 1:
                why = f"Parquet: damaged so that its decoder ended ({died}); what it had read before is kept"
                yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
                break
            if len(place.columns) == 1:
                (name,) = place.columns
                fatal.add(name)
                broken[name] = f"column {name!r} from row {place.row:,} on: its decoder ended ({died})"
    for why in broken.values():
        yield Tables(gaps=gap(path, why))


def tables(path: Path, window: int, begin: Place, fatal: Collection[str]) -> Iterator[Told]:
    """As `read` from `begin` on, with so many rows a window and without the metrics that are `fatal`, in this process,
    which damaged levels of a page may end; so each place is told before it is read. What is broken is told at once.
    """
    if why := _end(path):
        yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
        return
    try:
        table = _Table(path, window)
        if why := table.refused():
            yield Tables(gaps=gap(path, why, 0, path.stat().st_size))
            return
        yield from table.windows(begin, fatal)
    except _BROKEN as error:
        yield Tables(gaps=gap(path, f"Parquet: {_short(error)}", 0, path.stat().st_size))
        return
    yield from table.left_out()


def _end(path: Path) -> str:
    """What is wrong with the last bytes of the file, where its table of contents stands (empty: nothing)."""
    with opened(path) as file:
        file.seek(max(path.stat().st_size - 4, 0))
        end = file.read()
    return _ENDS.get(end, "Parquet without its end: cut off, nothing of it can be found")


@dataclass
class _Column:
    """One column of plain values: its name, how it is read, what it holds."""

    name: str
    read: pl.Expr
    dtype: pl.DataType

    @property
    def number(self) -> bool:
        return self.dtype.is_numeric()

    @property
    def text(self) -> bool:
        return isinstance(self.dtype, pl.String | pl.Categorical | pl.Enum)

    @property
    def moment(self) -> bool:
        return isinstance(self.dtype, pl.Datetime | pl.Date)

    def expression(self) -> pl.Expr:
        """The values as text or as Float64; moments as seconds since 1970."""
        if self.text:
            return self.read.cast(pl.String).alias(self.name)
        seconds = self.read.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64) / 1e6
        return (seconds if self.moment else self.read.cast(pl.Float64)).alias(self.name)


@dataclass
class _Table:
    """One file: its columns, which of them are axes, and what is not read."""

    path: Path
    window: int
    columns: dict[str, _Column] = field(init=False)
    rows: int = field(init=False)
    axes: Axes = field(init=False)
    unread: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        schema = self._scan().collect_schema()
        every = [c for name, dtype in schema.items() for c in _flat(name, pl.col(name), dtype)]
        self.columns = {c.name: c for c in every[:MOST_COLUMNS]}
        if len(every) > MOST_COLUMNS:
            self.unread[f"{len(every) - MOST_COLUMNS:,} more"] = "too many"
        self.rows = self._scan().select(pl.len()).collect().item()
        self.axes = Axes.choose({name: values for name, values in self._index(0).items() if name not in self._words})

    @property
    def _words(self) -> list[str]:
        """The columns of texts that name the metric or part the rows, at most one of each."""
        texts = [name for name, column in self.columns.items() if column.text]
        return [*known(texts, NAMES)[:1], *known(texts, PARTS)[:1]]

    @property
    def _counters(self) -> list[str]:
        """The columns that may be axes: numbers and times by name, and where no name tells, the first moment."""
        usable = [n for n, c in self.columns.items() if c.number or c.moment or c.text]
        named = [n for n in known(usable, AXES) if not (self.columns[n].text and n in self._words)]
        return named or [n for n, c in self.columns.items() if c.moment][:1]

    def refused(self) -> str:
        """Why this is no table of metrics (empty: it is)."""
        if self.axes.time or (self.axes.step and plain(self.axes.step) != "index") or self.axes.epoch:
            return ""
        shown = ", ".join(list(self.columns)[:_SHOWN])
        return f"no table of metrics: no column counts steps, epochs or time (columns: {shown})"

    def windows(self, begin: Place, fatal: Collection[str]) -> Iterator[Told]:
        """The points from `begin` on; column by column where a decoder ended there."""
        metrics = [name for name, column in self.columns.items() if column.number and name not in self.axes.used]
        wide = VALUES // max(min(self.window, self.rows), 1)
        at_once = max(min(wide, CHUNKS * len(self.columns) // self.path.stat().st_size), 1)
        for start in range(0, self.rows, self.window):
            yield Place(start)
            index = self._placed(start)  # also of the windows before `begin`: the axes go on from them
            if start < begin.row:
                continue
            again = bool(begin.columns) and start == begin.row
            left = dropwhile(lambda name: name != begin.columns[0], metrics) if again else metrics
            names = [name for name in left if name not in fatal]
            yield from self._window_points(index, start, names, 1 if begin.columns else at_once)

    def _window_points(self, index: pl.DataFrame, start: int, names: Sequence[str], at_once: int) -> Iterator[Told]:
        for i in range(0, len(names), at_once):
            yield Place(start, names[i : i + at_once])
            for values in self._values(names[i : i + at_once], start):
                if isinstance(values, Broken):
                    yield values
                else:
                    points = self._points(index, values)
                    yield from (Tables(points=piece) for piece in points.iter_slices(VALUES))

    def left_out(self) -> Iterator[Tables]:
        """A gap for the columns that hold no metrics."""
        used = {*self.axes.used, *self._words}
        unread = {n: str(c.dtype) for n, c in self.columns.items() if not (c.number or n in used or c.dtype == pl.Null)}
        unread |= self.unread
        if unread:
            shown = ", ".join(f"{name} ({why})" for name, why in list(unread.items())[:_SHOWN])
            more = ", …" if len(unread) > _SHOWN else ""
            yield Tables(gaps=gap(self.path, f"{len(unread)} columns hold no numbers: {shown}{more}"[:500]))

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False, hive_partitioning=False, use_statistics=False)

    def _window(self, names: Sequence[str], start: int) -> pl.DataFrame:
        rows = self._scan().slice(start, self.window).select(self.columns[name].expression() for name in names)
        return rows.collect(engine="streaming")

    def _index(self, start: int) -> dict[str, pl.Series]:
        names = [*self._counters, *(name for name in self._words if name not in self._counters)]
        return {column.name: column for column in self._window(names, start).iter_columns()} if names else {}

    def _placed(self, start: int) -> pl.DataFrame:
        """Where each row of a window stands, with the texts that name its metrics."""
        columns = self._index(start)
        rows = min(self.window, self.rows - start)
        index = self.axes.place(columns, rows)
        words = [columns[name].alias(f"word {i}") for i, name in enumerate(self._words)]
        source = pl.lit(self.path.name).alias("source")
        return index.with_columns(words).with_columns(source, session=pl.lit(0), line=pl.lit(None, pl.Int64))

    def _values(self, names: Sequence[str], start: int) -> Iterator[pl.DataFrame | Broken]:
        """The columns of a window; where one is damaged, the others of it."""
        try:
            yield self._window(names, start)
        except _BROKEN as error:
            half = len(names) // 2
            if half:
                yield from self._values(names[:half], start)
                yield from self._values(names[half:], start)
            else:
                yield Broken(names[0], f"column {names[0]!r} from row {start:,} on: {_short(error)}")

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
        for word, name in zip(words, self._words, strict=True):
            metric, told = pl.col("metric"), pl.col(word)
            if plain(name) in PARTS:
                value = pl.when(told.is_null()).then(metric).otherwise(told + "/" + metric)
            else:
                plain_value = metric.str.to_lowercase().str.ends_with("value") & told.is_not_null()
                value = pl.when(plain_value).then(told).otherwise(metric)
            long = long.with_columns(metric=value)
        return long.select([pl.col(name).cast(dtype) for name, dtype in SCHEMAS["points"].items()])


def _flat(name: str, read: pl.Expr, dtype: pl.DataType, depth: int = 8) -> Iterator[_Column]:
    """A column, or those of the fields of a struct."""
    if isinstance(dtype, pl.Struct) and depth:
        for part in dtype.fields:
            inner = part.dtype if isinstance(part.dtype, pl.DataType) else part.dtype()
            yield from _flat(f"{name}/{part.name}", read.struct.field(part.name), inner, depth - 1)
    else:
        yield _Column(name, read, dtype)


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
