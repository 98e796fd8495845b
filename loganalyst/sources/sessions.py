"""Which start of the program a row belongs to: sessions counted per file become sessions of the run."""

from datetime import datetime

import polars as pl

from loganalyst.model import Tables


def renumber(parts: list[tuple[str, str, Tables]]) -> list[Tables]:
    """Give every part (format, source path, tables) session numbers of the whole run.

    A restart in the same folder writes a new event file; a text log may hold several starts one after another. Event
    files are ordered by their start, folder by folder (train/ and validation/ are one program); everything is aligned
    at the last session, since the last start is the one that is judged.
    """
    numbers = _event_files([(source, tables) for fmt, source, tables in parts if fmt == "tensorboard"])
    own = [numbers.get(source, 0) for _, source, _ in parts]
    last = [first + _last_session(tables) for first, (_, _, tables) in zip(own, parts, strict=True)]
    per_format = {fmt: max(n for n, (f, _, _) in zip(last, parts, strict=True) if f == fmt) for fmt, _, _ in parts}
    top = max(per_format.values(), default=0)
    return [_shift(tables, first + top - per_format[fmt]) for first, (fmt, _, tables) in zip(own, parts, strict=True)]


def _event_files(files: list[tuple[str, Tables]]) -> dict[str, int]:
    """The session of each event file: the latest start, of the folder with most starts, that is not after its own."""
    starts: dict[str, list[tuple[float, str]]] = {}
    for source, tables in files:
        if tables.points.height or tables.distributions.height:
            started = tables.sessions["started"].min() if tables.sessions.height else None
            stamp = started.timestamp() if isinstance(started, datetime) else 0.0
            starts.setdefault(source.rpartition("/")[0], []).append((stamp, source))
    most = max((len(group) for group in starts.values()), default=0)
    leader = sorted(next((group for group in starts.values() if len(group) == most), []))
    out = {}
    for group in starts.values():
        for stamp, source in group:
            out[source] = max(sum(begin <= stamp for begin, _ in leader) - 1, 0)
    return out


def _last_session(tables: Tables) -> int:
    tops = [frame["session"].max() for frame in (tables.points, tables.lines, tables.sessions) if frame.height]
    return max((int(t) for t in tops if isinstance(t, int)), default=0)


def _shift(tables: Tables, by: int) -> Tables:
    def moved(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col("session").fill_null(0) + by)

    return Tables(
        points=moved(tables.points), distributions=moved(tables.distributions), lines=moved(tables.lines),
        sessions=moved(tables.sessions), config=tables.config, jobs=tables.jobs, checkpoints=tables.checkpoints,
        gaps=tables.gaps,
    )  # fmt: skip
