"""Every file of a run through the reader that knows it, into one set of tables. One bad file never stops the rest."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path, PurePosixPath
from pkgutil import iter_modules
from types import ModuleType

import polars as pl

import loganalyst.sources
from loganalyst.errors import SourceError
from loganalyst.model import Run, RunStatus, Source, Tables, table
from loganalyst.sources import ownjobs
from loganalyst.sources.discover import READABLE, Found, discover, no_file
from loganalyst.sources.sessions import renumber

HEAD = 1 << 16
PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz", b"BZh": "bzip2"}
PLAUSIBLE = 0.3  # below this no reader is asked: the file is not a log


@cache
def formats() -> tuple[ModuleType, ...]:
    """The readers: modules of this folder with NAME, sniff and read."""
    names = (m.name for m in iter_modules(loganalyst.sources.__path__))
    modules = (import_module(f"loganalyst.sources.{name}") for name in names)
    return tuple(m for m in modules if hasattr(m, "sniff") and hasattr(m, "read"))


def reader(path: Path, head: bytes) -> ModuleType | None:
    """The reader surest of the file, or None."""
    score, _, best = max((m.sniff(path, head), m.NAME, m) for m in formats())
    return best if score >= PLAUSIBLE else None


def run_id(path: Path) -> str:
    """First 12 hexadecimal digits of blake2b of the real path: the same in every command."""
    return blake2b(os.fsencode(path.resolve())).hexdigest()[:12]


def ingest(path: Path, logs: Sequence[Path] = ()) -> Run:
    """Read the run at `path`, with job `logs` that belong to it. Raises SourceError where nothing could be read."""
    found = discover(path)
    root = path if path.is_dir() else path.parent
    parts = [(_relative(f, root), f, *_read(f)) for f in dict.fromkeys([*found.files, *logs])]
    labelled = [(fmt or "", rel, _named(tables, rel)) for rel, _, fmt, tables in parts]
    unread = [_named(_gap(why), _relative(file, root)) for file, why in found.unread]
    tables = Tables.concat([*_prefixed(renumber(labelled), labelled), *unread])
    sources = tuple(
        Source(rel, fmt, s.st_size if (s := _stat(file)) else 0, t.points.height, t.lines.height)
        for rel, file, fmt, t in parts
    )
    _refuse_nothing(path, sources, tables)
    own = ownjobs.own(tables.jobs, tables.sessions, tables.config, [s.path for s in sources if s.format == "text"])
    tables = replace(tables, checkpoints=_checkpoints(found, root), jobs=own.jobs)
    basis = tuple(f"{_relative(log, root)}: named beside the run" for log in logs)
    return replace(_run(path, tables, sources, own), basis=basis, ignored=(*found.ignored, *own.left_out))


def _relative(file: Path, root: Path) -> str:
    """The file's path within the run; bytes that are no UTF-8 as ``?``, for tables hold text."""
    name = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
    return name.encode("utf-8", "replace").decode()


def _stat(file: Path) -> os.stat_result | None:
    """None where the file is gone by now."""
    try:
        return file.stat()
    except OSError:
        return None


def _read(file: Path) -> tuple[str | None, Tables]:
    try:
        if why := no_file(file):
            return None, _gap(why)
        if not file.stat().st_size:
            return None, _gap("empty file")
        with file.open("rb") as handle:
            head = handle.read(HEAD)
        module = reader(file, head)
        if module is None:
            return None, _gap(_unknown(head))
        return module.NAME, Tables.concat(module.read(file))
    except OSError as error:
        return None, _gap(f"cannot be read ({error.strerror})")
    except Exception as error:  # a reader's defect on one file must not lose the others
        return None, _gap(f"the reader failed ({type(error).__name__}: {error})")


def accounting(path: Path) -> bool:
    """Whether the file is a scheduler's accounting, which tells of a run's end but is no run."""
    try:
        with path.open("rb") as handle:
            module = reader(path, handle.read(HEAD))
    except OSError:
        return False
    return module is not None and module.NAME == "slurm"


def _unknown(head: bytes) -> str:
    if packed := next((name for magic, name in PACKED.items() if head.startswith(magic)), None):
        return f"compressed by {packed}: unpack it first"
    nul = head.find(b"\0")
    return "no known log format" if nul < 0 else f"binary data of no known log format (a NUL byte at offset {nul})"


def _gap(why: str) -> Tables:
    return Tables(gaps=table("gaps", {"file": [""], "offset": [0], "why": [why]}))


def _named(tables: Tables, source: str) -> Tables:
    """The same rows under the file's path within the run."""
    return replace(
        tables,
        points=tables.points.with_columns(source=pl.lit(source)),
        distributions=tables.distributions.with_columns(source=pl.lit(source)),
        sessions=tables.sessions.with_columns(source=pl.lit(source)),
        lines=tables.lines.with_columns(file=pl.lit(source)),
        gaps=tables.gaps.with_columns(file=pl.lit(source)),
        config=tables.config.with_columns(origin=pl.lit(source)),
        jobs=tables.jobs.with_columns(origin=pl.lit(source)),
    )


def _prefixed(tables: Iterable[Tables], parts: Sequence[tuple[str, str, Tables]]) -> list[Tables]:
    """Event files of sub-folders (train/, validation/, `add_scalars` tags) name their metrics after the folder."""
    folders = [PurePosixPath(s).parent.parts for fmt, s, t in parts if fmt == "tensorboard" and t.points.height]
    base = len(_common(folders))
    out = []
    for (fmt, source, _), t in zip(parts, tables, strict=True):
        prefix = "/".join(PurePosixPath(source).parent.parts[base:]) if fmt == "tensorboard" else ""
        named = (pl.lit(f"{prefix}/") + pl.col("metric")).alias("metric")
        out.append(
            replace(t, points=t.points.with_columns(named), distributions=t.distributions.with_columns(named))
            if prefix
            else t
        )
    return out


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
        "path": [_relative(f, root) for f, _ in rows],
        "step": [_step(f) for f, _ in rows],
        "size": [s.st_size for _, s in rows],
        "time": [datetime.fromtimestamp(s.st_mtime, UTC) for _, s in rows],
        "readable": [s.st_size > 0 for _, s in rows],
    }).sort("step", "path")  # fmt: skip


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
