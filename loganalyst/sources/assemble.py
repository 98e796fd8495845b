"""Combines the files of a run, which were read separately: sessions, metric names, checkpoints, and its status."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import msgspec
import polars as pl

from loganalyst.errors import SourceError
from loganalyst.model import HEADER_ALONE, Run, RunStatus, Source, Tables, table
from loganalyst.sources import clocks
from loganalyst.sources.discovery import accountedjobs
from loganalyst.sources.discovery.runs import READABLE, Found
from loganalyst.sources.files import evaluationsets
from loganalyst.sources.files.samesteps import common, prefixes
from loganalyst.sources.files.thinning import fitting, gap
from loganalyst.sources.filetables import BIG, Part, Place, place_rows, placed
from loganalyst.sources.runsessions import shifts

_STOPPED: frozenset[RunStatus] = frozenset(("timeout", "preempted", "node_fail"))  # by the scheduler, so it knows
MIN_SILENCE = timedelta(minutes=10)  # a run that was silent for less time counts as running
MAX_SILENT_INTERVALS = 5  # usual intervals between two rows that a running run may be silent


def run_id(path: Path) -> str:
    """The first 12 hexadecimal digits of blake2b of the real path: the same in every command."""
    return id_of(os.path.realpath(path))


def id_of(real: str) -> str:
    """The id of the run at a real path."""
    return blake2b(os.fsencode(real)).hexdigest()[:12]


def relative(file: Path, root: Path) -> str:
    """The file's path within the run. Tables hold text, so bytes that are not UTF-8 become ``?``."""
    return within(str(file), os.path.join(root, ""))


def within(file: str, folder: str) -> str:
    """The same as `relative`, for a `folder` with a separator at its end."""
    name = file[len(folder) :].replace(os.sep, "/") if file.startswith(folder) else file
    return name if name.isascii() else name.encode("utf-8", "replace").decode()


def places(parts: Sequence[Part]) -> list[Place]:
    """The place of each file's rows in the run: the shift of its sessions, and the prefix of its metrics.

    The prefix of event files in sub-folders (train/, validation/, `add_scalars` tags) is the folder. The prefix of
    files that log the same metrics side by side is the file.
    """
    folders = [PurePosixPath(p.source).parent.parts for p in parts]
    base = len(common([f for f, p in zip(folders, parts, strict=True) if p.format == "tensorboard" and p.facts.rows]))
    inner = ["/".join(f[base:]) if p.format == "tensorboard" else "" for f, p in zip(folders, parts, strict=True)]
    shift = shifts([(p.format or "", p.source, p.facts) for p in parts])
    named = [f"{f}/" if f else name for f, name in zip(inner, prefixes(parts, shift), strict=True)]
    return [Place(*both) for both in zip(shift, named, strict=True)]


class Assembled(msgspec.Struct, frozen=True):
    """A run whose points, distributions and lines are still stored by file; `run` holds everything else."""

    run: Run
    parts: Sequence[Part]
    places: Sequence[Place]

    def frames(self, name: str) -> Iterator[pl.DataFrame]:
        """The rows of a big table in the form that they have in the run, file after file."""
        for part, place in zip(self.parts, self.places, strict=True):
            yield from (place_rows(name, rows, part.source, place) for rows in part.frames(name))

    def whole(self) -> Run:
        """The run with its rows; of very long curves a sample. The points, which may be millions, are not copied into
        one chunk.
        """
        heights = {name: sum(part.height(name) for part in self.parts) for name in BIG}
        return with_big(self.run, heights, self.frames)


def with_big(run: Run, heights: Mapping[str, int], frames: Callable[[str], Iterable[pl.DataFrame]]) -> Run:
    """The run with its big tables. `heights` are their row counts, and `frames` yields a table in pieces, by name."""
    big: dict[str, pl.DataFrame] = {}
    gaps = [run.gaps]
    for name, height in heights.items():
        if height:
            big[name], why = fitting(name, height, partial(frames, name))
            gaps.append(gap(run.name, why))
    if "points" in big:
        big["points"] = evaluationsets.named(big["points"])
    return replace(run, gaps=pl.concat(gaps), **big)  # type: ignore[arg-type]


def assemble(path: Path, found: Found, parts: Sequence[Part], basis: Sequence[str] = ()) -> Assembled:
    """One run from its files. Raises SourceError if none of them has a row, or at least the header of a table."""
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
    known = replace(
        run, basis=(*found.basis, *basis), suggested=found.suggested, ignored=(*found.ignored, *own.left_out)
    )
    return Assembled(known, parts, where)


def _refuse_nothing(path: Path, parts: Sequence[Part], tables: Tables) -> None:
    rows = sum(p.facts.rows + p.facts.lines for p in parts)
    small = (tables.config, tables.jobs, tables.sessions, tables.process_groups, tables.blocks)
    begun = tables.gaps.filter(why=HEADER_ALONE).height  # an answer, too: not enough was logged so far
    if any(p.format for p in parts) and rows + begun + sum(t.height for t in small):
        return
    gaps = tables.gaps.unique(["file", "why"], keep="first", maintain_order=True).head(3)
    why = "; ".join(f"{g['file']}: {g['why']}" for g in gaps.to_dicts()) or "no log rows"
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
    """The stat of a file; None if it is gone."""
    try:
        return file.stat()
    except OSError:
        return None


def _step(file: Path) -> int | None:
    """The step in the name of a checkpoint or of its folder (`step=500`, `checkpoint-500`, `iter_0500`).

    A number with more digits than an Int64 is no step.
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
    last = last or _times(starts.max())  # only then: starts may have another clock than logged rows
    extent = clocks.on_one_clock(tables.sessions)
    started, ended = extent or (min(first, default=None), max(last, default=None))
    return Run(
        **vars(tables),
        id=run_id(path),
        path=path,
        name=path.resolve().name,
        sources=sources,
        status=_status(tables, parts, ended, own),
        started=started,
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
    """The status of the last session if it ended badly (the most specific one), else the scheduler's, else the
    session's. `running` if none of them is known and the last row is recent, compared with the usual interval.

    Only logged times count: a copied run has new file times.
    """
    number, status = tables.sessions["session"], tables.sessions["status"]
    stated = status.filter(number == number.max()).drop_nulls().to_list() if number.len() else []
    by_scheduler = accountedjobs.status(own)
    # the steps of a failed job are cancelled, which says nothing
    meaningless = {"unknown", "cancelled"} if by_scheduler == "failed" else {"unknown"}
    stated = [s for s in stated if s not in meaningless]
    bad: list[RunStatus] = [s for s in [*stated, *({by_scheduler} & _STOPPED)] if s != "finished"]
    if bad:
        return min(bad, key=lambda s: s == "failed")
    if stated or by_scheduler != "unknown":
        return by_scheduler if by_scheduler != "unknown" else "finished"
    if ended is None:
        return "unknown"
    age = datetime.now(UTC) - ended
    first = min(_times(*(p.facts.first for p in parts)), default=ended)  # no interval is longer than the whole time
    alive = timedelta(0) <= age and (
        age < MIN_SILENCE or (age < MAX_SILENT_INTERVALS * (ended - first) and age < silence(parts))
    )
    return "running" if alive else "unknown"


def silence(parts: Sequence[Part]) -> timedelta:
    """How long a run may be silent and still count as running: MAX_SILENT_INTERVALS times the median interval between
    two rows, and at least MIN_SILENCE. Times are rounded to ten seconds, so that a long run needs little memory.
    """
    whole = pl.col("time").dt.truncate("10s")
    ticks = table("points").select(whole)["time"]
    for rows in (rows for part in parts for rows in part.frames("points")):
        ticks = pl.concat([ticks, rows.select(whole)["time"]]).unique()  # a series keeps the memory of its rows
    pace = ticks.drop_nulls().sort().diff().median()
    return max(MIN_SILENCE, MAX_SILENT_INTERVALS * pace) if isinstance(pace, timedelta) else MIN_SILENCE
