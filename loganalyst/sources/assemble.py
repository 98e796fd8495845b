"""The files of a run, each read on its own, become one run: sessions, metric names, checkpoints, and how it ended."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import polars as pl

from loganalyst.errors import SourceError
from loganalyst.model import Run, RunStatus, Source, Tables, table
from loganalyst.sources.discovery import accountedjobs
from loganalyst.sources.discovery.runs import READABLE, Found
from loganalyst.sources.files.samesteps import common, prefixes
from loganalyst.sources.files.thinning import fitting, gap
from loganalyst.sources.filetables import BIG, Part, Place, place_rows, placed
from loganalyst.sources.runsessions import shifts

_STOPPED: frozenset[RunStatus] = frozenset(("timeout", "preempted", "node_fail"))  # by the scheduler: it knows
SHORT = timedelta(minutes=10)  # a run that was silent for less is running


def run_id(path: Path) -> str:
    """First 12 hexadecimal digits of blake2b of the real path: the same in every command."""
    return id_of(os.path.realpath(path))


def id_of(real: str) -> str:
    """The id of the run at a real path."""
    return blake2b(os.fsencode(real)).hexdigest()[:12]


def relative(file: Path, root: Path) -> str:
    """The file's path within the run; bytes that are no UTF-8 as ``?``, for tables hold text."""
    return within(str(file), os.path.join(root, ""))


def within(file: str, folder: str) -> str:
    """As `relative`, of a `folder` with a separator at its end."""
    name = file[len(folder) :].replace(os.sep, "/") if file.startswith(folder) else file
    return name if name.isascii() else name.encode("utf-8", "replace").decode()


def places(parts: Sequence[Part]) -> list[Place]:
    """Where the rows of each file stand in the run.

    Event files of sub-folders (train/, validation/, `add_scalars` tags) name their metrics after the folder; files that
    log the same metrics side by side name them after themselves.
    """
    folders = [PurePosixPath(p.source).parent.parts for p in parts]
    base = len(common([f for f, p in zip(folders, parts, strict=True) if p.format == "tensorboard" and p.facts.rows]))
    inner = ["/".join(f[base:]) if p.format == "tensorboard" else "" for f, p in zip(folders, parts, strict=True)]
    shift = shifts([(p.format or "", p.source, p.facts) for p in parts])
    named = [f"{f}/" if f else name for f, name in zip(inner, prefixes(parts, shift), strict=True)]
    return [Place(*both) for both in zip(shift, named, strict=True)]


@dataclass(frozen=True)
class Assembled:
    """A run whose points, distributions and lines are still with its files; `run` holds everything else."""

    run: Run
    parts: Sequence[Part]
    places: Sequence[Place]

    def frames(self, name: str) -> Iterator[pl.DataFrame]:
        """The rows of a big table as they stand in the run, file after file."""
        for part, place in zip(self.parts, self.places, strict=True):
            yield from (place_rows(name, rows, part.source, place) for rows in part.frames(name))

    def whole(self) -> Run:
        """The run with its rows, of big curves a sample; the points, which may be millions, are not copied into one
        piece.
        """
        heights = {name: sum(part.height(name) for part in self.parts) for name in BIG}
        return with_big(self.run, heights, self.frames)


def with_big(run: Run, heights: Mapping[str, int], frames: Callable[[str], Iterable[pl.DataFrame]]) -> Run:
    """The run with its big tables, which have `heights` rows and of which `frames` gives the pieces by name."""
    big: dict[str, pl.DataFrame] = {}
    gaps = [run.gaps]
    for name, height in heights.items():
        if height:
            big[name], why = fitting(name, height, partial(frames, name))
            gaps.append(gap(run.name, why))
    return replace(run, gaps=pl.concat(gaps), **big)  # type: ignore[arg-type]


def assemble(path: Path, found: Found, parts: Sequence[Part], basis: Sequence[str] = ()) -> Assembled:
    """One run out of its files. Raises SourceError where none of them gave a row."""
    where = places(parts)
    root = path if path.is_dir() else path.parent
    gaps = [table("gaps", {"file": relative(f, root), "offset": [0], "why": [why]}) for f, why in found.unread]
    tables = Tables.concat(
        [*(placed(p.tables, p.source, at) for p, at in zip(parts, where, strict=True)), *(Tables(gaps=g) for g in gaps)]
    )
    sources = tuple(Source(p.source, p.format, p.bytes, p.facts.points, p.facts.lines) for p in parts)
    _refuse_nothing(path, parts, tables)
    own = accountedjobs.jobs_of_run(
        tables.jobs, tables.sessions, tables.config, [s.path for s in sources if s.format == "text"]
    )
    tables = replace(tables, checkpoints=_checkpoints(found, root), jobs=own.jobs)
    run = _run(path, tables, parts, sources, own)
    told = replace(
        run, basis=(*found.basis, *basis), suggested=found.suggested, ignored=(*found.ignored, *own.left_out)
    )
    return Assembled(told, parts, where)


def _refuse_nothing(path: Path, parts: Sequence[Part], tables: Tables) -> None:
    rows = sum(p.facts.rows + p.facts.lines for p in parts)
    small = (tables.config, tables.jobs, tables.sessions, tables.process_groups)
    if any(p.format for p in parts) and rows + sum(t.height for t in small):
        return
    why = "; ".join(f"{g['file']}: {g['why']}" for g in tables.gaps.head(3).to_dicts()) or "no log rows"
    raise SourceError(path, f"nothing could be read ({why})", READABLE)


def _checkpoints(found: Found, root: Path) -> pl.DataFrame:
    if not found.checkpoints:
        return table("checkpoints")
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


def _run(
    path: Path, tables: Tables, parts: Sequence[Part], sources: tuple[Source, ...], own: accountedjobs.RunJobs
) -> Run:
    facts = [p.facts for p in parts]
    starts, ends = tables.sessions["started"], tables.sessions["ended"]
    first = _times(*(f.first for f in facts), ends.min(), starts.min())
    last = _times(*(f.last for f in facts), ends.max())
    last = last or _times(starts.max())  # a start may carry another clock than what was logged
    ended = max(last, default=None)
    return Run(
        **vars(tables),
        id=run_id(path),
        path=path,
        name=path.resolve().name,
        sources=sources,
        status=_status(tables, parts, ended, own),
        started=min(first, default=None),
        ended=ended,
        host=_config(tables, "host"),
        framework=_config(tables, "framework"),
        job=own.job,
    )


def _times(*values: object) -> list[datetime]:
    return [value for value in values if isinstance(value, datetime)]


def _config(tables: Tables, key: str) -> str | None:
    if not tables.config.height:
        return None
    hit = tables.config.filter((pl.col("key") == key) | pl.col("key").str.ends_with(f".{key}"))
    return hit["value"][0] if hit.height else None


def _status(tables: Tables, parts: Sequence[Part], ended: datetime | None, own: accountedjobs.RunJobs) -> RunStatus:
    """What the last session says of a bad end, what says most of it first; then what the scheduler says, then the
    session; `running` where all say nothing and the last row is young against the usual pace.

    Only logged times count: a copied run has fresh file times.
    """
    number, status = tables.sessions["session"], tables.sessions["status"]
    told = status.filter(number == number.max()).drop_nulls().to_list() if number.len() else []
    by_scheduler = accountedjobs.status(own)
    led_to = {"unknown", "cancelled"} if by_scheduler == "failed" else {"unknown"}  # its steps are cancelled then
    told = [s for s in told if s not in led_to]
    bad: list[RunStatus] = [s for s in [*told, *({by_scheduler} & _STOPPED)] if s != "finished"]
    if bad:
        return min(bad, key=lambda s: s == "failed")
    if told or by_scheduler != "unknown":
        return by_scheduler if by_scheduler != "unknown" else "finished"
    if ended is None:
        return "unknown"
    age = datetime.now(UTC) - ended
    first = min(_times(*(p.facts.first for p in parts)), default=ended)  # no pace is longer than all the time
    alive = timedelta(0) <= age and (age < SHORT or (age < 5 * (ended - first) and age < silence(parts)))
    return "running" if alive else "unknown"


def silence(parts: Sequence[Part]) -> timedelta:
    """How long a run may say nothing and still count as running: five times the usual time between two rows, at least
    ten minutes. Times are compared to ten seconds, so that a run of any length needs little memory.
    """
    whole = pl.col("time").dt.truncate("10s")
    ticks = table("points").select(whole)["time"]
    for rows in (rows for part in parts for rows in part.frames("points")):
        ticks = pl.concat([ticks, rows.select(whole)["time"]]).unique()  # now, for a series holds its rows' memory
    pace = ticks.drop_nulls().sort().diff().median()
    return max(SHORT, 5 * pace) if isinstance(pace, timedelta) else SHORT
