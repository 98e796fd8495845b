"""The files of a run, each read on its own, become one run: sessions, metric names, checkpoints, and how it ended."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import polars as pl

from loganalyst.errors import SourceError
from loganalyst.model import Run, RunStatus, Source, Tables, table
from loganalyst.sources import ownjobs
from loganalyst.sources.discover import READABLE, Found
from loganalyst.sources.part import Facts, Part, Place, facts, placed
from loganalyst.sources.sessions import shifts


def run_id(path: Path) -> str:
    """First 12 hexadecimal digits of blake2b of the real path: the same in every command."""
    return blake2b(os.fsencode(path.resolve())).hexdigest()[:12]


def relative(file: Path, root: Path) -> str:
    """The file's path within the run; bytes that are no UTF-8 as ``?``, for tables hold text."""
    name = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
    return name.encode("utf-8", "replace").decode()


def places(files: Sequence[tuple[str, str | None, Facts]]) -> list[Place]:
    """Where the rows of each file (path within the run, format, facts) stand in the run.

    Event files of sub-folders (train/, validation/, `add_scalars` tags) name their metrics after the folder.
    """
    events = [PurePosixPath(source).parent.parts for source, fmt, known in files if fmt == "tensorboard" and known.rows]
    base = len(_common(events))
    inner = ["/".join(PurePosixPath(source).parent.parts[base:]) for source, _, _ in files]
    prefix = [f"{f}/" if f and fmt == "tensorboard" else "" for f, (_, fmt, _) in zip(inner, files, strict=True)]
    shift = shifts([(fmt or "", source, known) for source, fmt, known in files])
    return [Place(*both) for both in zip(shift, prefix, strict=True)]


def assemble(path: Path, found: Found, parts: Sequence[Part], basis: Sequence[str] = ()) -> Run:
    """One run out of its files. Raises SourceError where none of them gave a row."""
    where = places([(p.source, p.format, facts(p.tables)) for p in parts])
    unread = [Tables(gaps=table("gaps", {"file": str(f), "offset": [0], "why": [why]})) for f, why in found.unread]
    rows = [placed(p.tables, p.source, place) for p, place in zip(parts, where, strict=True)]
    tables = Tables.concat([*rows, *unread])
    sources = tuple(Source(p.source, p.format, p.bytes, p.tables.points.height, p.tables.lines.height) for p in parts)
    _refuse_nothing(path, sources, tables)
    own = ownjobs.own(tables.jobs, tables.sessions, tables.config, [s.path for s in sources if s.format == "text"])
    root = path if path.is_dir() else path.parent
    tables = replace(tables, checkpoints=_checkpoints(found, root), jobs=own.jobs)
    return replace(_run(path, tables, sources, own), basis=tuple(basis), ignored=(*found.ignored, *own.left_out))


def _common(folders: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    first, last = (min(folders), max(folders)) if folders else ((), ())
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]


def _refuse_nothing(path: Path, sources: Sequence[Source], tables: Tables) -> None:
    read = [s for s in sources if s.format]
    rows = sum(
        getattr(tables, name).height for name in ("points", "distributions", "lines", "config", "jobs", "sessions")
    )
    if read and rows:
        return
    why = "; ".join(f"{g['file']}: {g['why']}" for g in tables.gaps.head(3).to_dicts()) or "no log rows"
    raise SourceError(path, f"nothing could be read ({why})", READABLE)


def _checkpoints(found: Found, root: Path) -> pl.DataFrame:
    rows = [(f, s) for f in found.checkpoints if (s := _stat(f))]
    return table("checkpoints", {
        "path": [relative(f, root) for f, _ in rows],
        "step": [_step(f) for f, _ in rows],
        "size": [s.st_size for _, s in rows],
        "time": [datetime.fromtimestamp(s.st_mtime, UTC) for _, s in rows],
        "readable": [s.st_size > 0 for _, s in rows],
    }).sort("step", "path")  # fmt: skip


def _stat(file: Path) -> os.stat_result | None:
    """None where the file is gone by now."""
    try:
        return file.stat()
    except OSError:
        return None


def _step(file: Path) -> int | None:
    """The step in a checkpoint's name, or in that of its folder (`step=500`, `checkpoint-500`, `iter_0500`).

    More digits than an Int64 holds are no step.
    """
    for name in (file.stem, file.parent.name):
        if hit := re.search(r"(?:step|iter|iteration|checkpoint|ckpt|global_step)[-_=]?([0-9]{1,18})(?![0-9])", name):
            return int(hit[1])
    return None


def _run(path: Path, tables: Tables, sources: tuple[Source, ...], own: ownjobs.Own) -> Run:
    times = [tables.points["time"], tables.sessions["ended"], tables.lines["time"]]
    stamps = pl.concat([t.drop_nulls().rename("time") for t in times])
    starts = tables.sessions["started"].drop_nulls()
    ended = stamps.max() if len(stamps) else starts.max()  # a start may carry another clock than what was logged
    return Run(
        **vars(tables),
        id=run_id(path),
        path=path,
        name=path.resolve().name,
        sources=sources,
        status=_status(tables, ended if isinstance(ended, datetime) else None, own),
        started=_when(pl.concat([stamps, starts.rename("time")]).min()),
        ended=_when(ended),
        host=_config(tables, "host"),
        framework=_config(tables, "framework"),
        job=own.job,
    )


def _when(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def _config(tables: Tables, key: str) -> str | None:
    hit = tables.config.filter((pl.col("key") == key) | pl.col("key").str.ends_with(f".{key}"))
    return hit["value"][0] if hit.height else None


def _status(tables: Tables, ended: datetime | None, own: ownjobs.Own) -> RunStatus:
    """What the last session says of a bad end, then what the scheduler says, then the session; `running` where all say
    nothing and the last row is young against the usual pace.

    Only logged times count: a copied run has fresh file times.
    """
    last = tables.sessions.filter(pl.col("session") == pl.col("session").max())
    told = last["status"].drop_nulls().to_list()
    told = [s for s in told if s != "unknown"]
    by_scheduler = ownjobs.status(own)
    bad: list[RunStatus] = [s for s in told if s != "finished"]
    if bad:
        return bad[0]
    if told or by_scheduler != "unknown":
        return by_scheduler if by_scheduler != "unknown" else "finished"
    if ended is None:
        return "unknown"
    pace = tables.points["time"].drop_nulls().unique().sort().diff().median()
    usual = pace.total_seconds() if isinstance(pace, timedelta) else 0.0
    age = (datetime.now(UTC) - ended).total_seconds()
    return "running" if 0 <= age < max(600.0, 5 * usual) else "unknown"
