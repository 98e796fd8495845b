"""One file of a run as its reader gave it, and the place of its rows among those of the other files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from loganalyst.model import Tables, constant
from loganalyst.sources.files.readmark import Mark, StartAgainError
from loganalyst.sources.files.rowspool import Rows, Spool

BIG = ("points", "distributions", "lines")
SMALL = tuple(f.name for f in fields(Tables) if f.name not in BIG)
_SESSION = {"points", "distributions", "lines", "blocks", "sessions"}
_METRIC = {"points", "distributions"}
_SOURCE = {
    "lines": "file", "blocks": "file", "gaps": "file", "collectives": "file", "process_groups": "file",
    "config": "origin", "jobs": "origin",
}  # fmt: skip  # the others': "source"


class Facts(NamedTuple):
    """Facts of a file. To place it: the number of rows of points and distributions, its last session, and its start.
    For the run: the numbers of points and lines, the first and last time of a point or line, whether the values of all
    points are 32-bit numbers, whether torchrun reports in it that the job failed, and the times of all program starts.
    """

    rows: int = 0
    last_session: int = 0
    started: datetime | None = None
    points: int = 0
    lines: int = 0
    first: datetime | None = None
    last: datetime | None = None
    single: bool = True
    launcher_failed: bool = False
    starts: tuple[datetime | None, ...] = ()


class Place(NamedTuple):
    """The place of a file in the run: `shift` is added to its session numbers (which count from 0 in the file), and
    `prefix` is put before the names of its metrics.
    """

    shift: int = 0
    prefix: str = ""


class Part(msgspec.Struct, frozen=True):
    """A file of a run. `source` is its path within the run, and `format` is None if no reader knew it. The rows of big
    tables are in `big`, all others in `tables`. Reading can continue at `mark`. `again`: it must be read again next
    time although it did not change.
    """

    source: str
    format: str | None
    bytes: int
    tables: Tables = msgspec.field(default_factory=Tables)
    big: Mapping[str, Sequence[Rows]] = msgspec.field(default_factory=dict)
    facts: Facts = Facts()
    mark: Mark | None = None
    again: bool = False

    def frames(self, name: str) -> Iterator[pl.DataFrame]:
        """The file's rows of a big table, in order."""
        for rows in self.big.get(name, ()):
            yield from rows.frames()

    def height(self, name: str) -> int:
        """How many rows of a table the file has."""
        if name in BIG:
            return sum(rows.height for rows in self.big.get(name, ()))
        frame: pl.DataFrame = getattr(self.tables, name)
        return frame.height


Reading = Callable[[Mark | None], Iterator[Tables]]  # yields the content after a mark; may return the next mark


class Earlier(msgspec.Struct, frozen=True):
    """An earlier reading of a file that only grew since: the mark where it can continue, and the rows that stay."""

    format: str
    mark: Mark
    kept: Callable[[], Iterator[Tables]]


class Gathering:
    """Collects the batches of a reader; rows of big tables go to the spool."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._clear()

    def _clear(self) -> None:
        self._small: list[Tables] = []
        self._big: dict[str, list[Rows]] = {name: [] for name in BIG}
        self._facts = Facts()

    @property
    def some(self) -> bool:
        """Whether any rows but gaps were taken."""
        small = (
            frame for tables in self._small for name in SMALL if name != "gaps" for frame in [getattr(tables, name)]
        )
        return any(self._big.values()) or any(frame.height for frame in small)

    @property
    def points(self) -> int:
        """How many points were taken."""
        return self._facts.points

    def read(self, reading: Reading, earlier: Earlier | None = None) -> Mark | None:
        """Take the whole file, or only what follows an earlier reading. Returns the mark for the next time."""
        if earlier is not None:
            try:
                self.take(earlier.kept())
                return self._taken(reading(earlier.mark))
            except StartAgainError:
                self._clear()
        return self._taken(reading(None))

    def _taken(self, batches: Any) -> Mark | None:
        mark: Mark | None = None

        def to_the_end() -> Iterator[Tables]:
            nonlocal mark
            mark = yield from batches  # a generator's return value; None for any other iterator

        self.take(to_the_end())
        return mark

    def take(self, batches: Iterable[Tables]) -> None:
        """Take all of these batches."""
        for batch in batches:
            self._facts = _more(self._facts, batch)
            for name in BIG:
                frame: pl.DataFrame = getattr(batch, name)
                if frame.height:
                    self._big[name].append(self._spool.keep(frame))
            self._small.append(Tables(**{name: getattr(batch, name) for name in SMALL}))

    def part(
        self, source: str, format_: str | None, size: int, mark: Mark | None = None, *, again: bool = False
    ) -> Part:
        """The rows that were taken, as a file of the run."""
        return Part(source, format_, size, Tables.concat(self._small), self._big, self._facts, mark, again)


def _more(facts: Facts, batch: Tables) -> Facts:
    """The facts of a file with one more batch."""
    tops = [frame["session"].max() for frame in (batch.points, batch.lines, batch.sessions) if frame.height]
    starts = [batch.sessions["started"].min()] if batch.sessions.height else []
    times = [frame["time"] for frame in (batch.points, batch.lines) if frame.height]
    return Facts(
        rows=facts.rows + batch.points.height + batch.distributions.height,
        last_session=max(facts.last_session, *(top for top in tops if isinstance(top, int)), 0),
        started=min(_known([facts.started, *starts]), default=None),
        points=facts.points + batch.points.height,
        lines=facts.lines + batch.lines.height,
        first=min(_known([facts.first, *(t.min() for t in times)]), default=None),
        last=max(_known([facts.last, *(t.max() for t in times)]), default=None),
        single=facts.single and _single(batch.points["value"]),
        launcher_failed=facts.launcher_failed or (batch.blocks["kind"] == "torchrun").any(),
        starts=(*facts.starts, *batch.sessions["started"]),
    )


def _single(values: pl.Series) -> bool:
    bits = values.to_numpy()  # NULL becomes NaN, which 32 bits can hold
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((bits.astype(np.float32).astype(np.float64).view(np.int64) == bits.view(np.int64)).all())


def _known(times: Iterable[object]) -> list[datetime]:
    return [t for t in times if isinstance(t, datetime)]


def placed(tables: Tables, source: str, place: Place) -> Tables:
    """The rows in the form that they have in the run: with the file's path, and the run's sessions and metrics."""
    frames = {f.name: getattr(tables, f.name) for f in fields(Tables)}
    return replace(tables, **{name: place_rows(name, rows, source, place) for name, rows in frames.items()})


def place_rows(name: str, rows: pl.DataFrame, source: str, place: Place) -> pl.DataFrame:
    """The rows of one table in the form that they have in the run."""
    if not rows.height or name == "checkpoints":
        return rows
    columns = [constant(source, rows.height, pl.String).alias(_SOURCE.get(name, "source"))]
    if name in _SESSION and (place.shift or rows["session"].null_count()):
        columns.append(rows["session"].fill_null(0) + place.shift)
    if name in _METRIC and place.prefix:
        columns.append((place.prefix + rows["metric"]).alias("metric"))
    return changed(rows, columns)


def changed(rows: pl.DataFrame, columns: Iterable[pl.Series]) -> pl.DataFrame:
    """The frame with these columns in place of those with the same names; for a small frame faster than a query."""
    frame = rows.clone()
    for column in columns:
        frame.replace_column(frame.get_column_index(column.name), column)
    return frame


def unplace_rows(name: str, rows: pl.DataFrame, place: Place) -> pl.DataFrame:
    """Placed rows in the form that the reader gave them, except for the path, which placing sets again."""
    columns = [pl.col("session") - pl.lit(place.shift, pl.Int32)] if name in _SESSION else []
    if name in _METRIC and place.prefix:
        columns.append(pl.col("metric").str.strip_prefix(place.prefix))
    return rows.with_columns(columns)
