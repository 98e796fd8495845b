"""One file of a run as its reader gave it, and what its rows must be told to stand among those of the other files."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.mark import Mark


class Facts(NamedTuple):
    """What must be known of a file to place it: rows of points and distributions, its last session, its start."""

    rows: int
    last_session: int
    started: datetime | None


class Place(NamedTuple):
    """What a file's rows get to stand in the run: `shift` is added to its session numbers (which count from 0 in the
    file), `prefix` goes before its metrics' names.
    """

    shift: int = 0
    prefix: str = ""


@dataclass(frozen=True)
class Part:
    """A file of a run. `source` is its path within the run, `format` None where no reader knew it; `mark` is where its
    reading can go on.
    """

    source: str
    format: str | None
    bytes: int
    tables: Tables
    mark: Mark | None = None


def facts(tables: Tables) -> Facts:
    """The facts of a file that was read whole."""
    tops = [frame["session"].max() for frame in (tables.points, tables.lines, tables.sessions) if frame.height]
    started = tables.sessions["started"].min() if tables.sessions.height else None
    return Facts(
        rows=tables.points.height + tables.distributions.height,
        last_session=max((int(top) for top in tops if isinstance(top, int)), default=0),
        started=started if isinstance(started, datetime) else None,
    )


def placed(tables: Tables, source: str, place: Place) -> Tables:
    """The rows as they stand in the run: under the file's path, with the run's sessions and metrics."""
    session = pl.col("session").fill_null(0) + pl.lit(place.shift, pl.Int32)
    metric = pl.lit(place.prefix) + pl.col("metric")
    path = pl.lit(source)
    return replace(
        tables,
        points=tables.points.with_columns(session, metric, source=path),
        distributions=tables.distributions.with_columns(session, metric, source=path),
        sessions=tables.sessions.with_columns(session, source=path),
        lines=tables.lines.with_columns(session, file=path),
        gaps=tables.gaps.with_columns(file=path),
        config=tables.config.with_columns(origin=path),
        jobs=tables.jobs.with_columns(origin=path),
    )
