"""One run from its files: only changed files are read, and the big tables are written to files.

The rows of an unchanged file are taken from the store, as its reader gave them. All rows are then put together by the
code that reads a run for the first time. So the stored tables are the same as after a full reading.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
from polars.io.plugins import register_io_source

from loganalyst import opening
from loganalyst.errors import LogAnalystError
from loganalyst.model import SCHEMAS, Tables
from loganalyst.model.tabletext import printable
from loganalyst.settings import Chosen
from loganalyst.sources.assemble import Assembled, assemble, relative, silence, within
from loganalyst.sources.discovery.runs import Found
from loganalyst.sources.files import address
from loganalyst.sources.files.rowspool import GROUP_ROWS, MAX_HELD_ROWS, Spool, slices
from loganalyst.sources.filetables import BIG, SMALL, Earlier, Gathering, Part, Place, changed, unplace_rows
from loganalyst.sources.ingest import only_texts, part
from loganalyst.sources.text.patterns import userpatterns
from loganalyst.store import runrows
from loganalyst.store.columns import SEALS
from loganalyst.store.ledger import broken, seal, written
from loganalyst.store.notes import UNKNOWN, Known, Note, Print, Seen, stat_of
from loganalyst.store.state import packed, unpacked

HASHED_BYTES = 1 << 12  # at the beginning of a file and before its mark, by which it is recognised


@dataclass(frozen=True)
class Task:
    """A run to read: its files, the note to remember, the earlier reading (`known`), and the paths of its big tables
    (`written`). Files are written to and next to `folder`. `rules` are folders with the user's rules, and `chosen` the
    settings that hold for the run.
    """

    found: Found
    note: Note
    known: Known | None
    written: Mapping[str, Path]
    folder: Path
    rules: tuple[Path, ...] = ()
    chosen: Chosen = Chosen()


@dataclass(frozen=True)
class Done:
    """The result of a task: the `files` of its big tables and the `rows` of the small ones, by table. Both are empty if
    nothing could be read; the note says why.
    """

    task: Task
    note: Note
    files: Mapping[str, Path] = field(default_factory=dict)
    rows: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    points: int = 0


def prints(folder: str, files: Iterable[str]) -> dict[str, Print]:
    """The prints of a run's files and checkpoints by their path in its `folder`; files that are gone are left out."""
    inside = os.path.join(folder, "")
    return {within(file, inside): stat for file in files if (stat := stat_of(file) or _print(file)) is not None}


def _print(named: str) -> Print | None:
    """The print of a database that holds several runs, including its change logs."""
    file, run = address.split(Path(named))
    stat = stat_of(file)
    if not run or stat is None:
        return None
    logs = [log for end in address.CHANGE_LOGS if (log := stat_of(file.with_name(file.name + end)))]
    return Print(stat.size + sum(log.size for log in logs), max([stat.mtime, *(log.mtime for log in logs)]), stat.inode)


def read(task: Task, held: int = MAX_HELD_ROWS, group: int = GROUP_ROWS) -> Done:
    """Read the run; a failure is in the note. Of its rows at most `held` stay in memory; `group` is a row group."""
    if task.known is not None and not _untouched(task):  # the files are newer than the note about them
        task = replace(task, known=None)
    # a machine that was given up may still read the run while another machine reads it again
    task = replace(task, folder=task.folder.with_name(f"{task.folder.name}-{uuid4().hex}"))
    note = task.note
    try:
        spool = Spool(task.folder, held)
        with userpatterns.reading_with(task.rules), opening.within(task.found.bounds()):
            named = [(file, relative(file, task.found.folder)) for file in task.found.files]
            texts = only_texts(named)
            parts = [_part(task, file, source, spool, only=source in texts) for file, source in named]
        run = assemble(task.found.root, task.found, parts)
        files = {
            name: file for name in BIG if (file := _written(name, run, task.folder, group, streamed=spool.spilled))
        }
        noted = _noted(note, run, task.known, files)
        rows, points = _rows(task, run, noted)
    except LogAnalystError as error:
        return Done(task, replace(note, why=printable(error), path=printable(note.path)))
    except UnicodeEncodeError:  # no table can hold the name
        why = printable(f"{task.found.root}: a name in this path or below it is not valid UTF-8")
        return Done(task, replace(note, why=why, prints={}, path=printable(note.path)))
    except (Exception, pl.exceptions.PanicException) as error:  # a full disk, or a defect, must not lose the other runs
        return Done(task, replace(note, why=f"{task.found.root}: {type(error).__name__}: {error}", prints={}))
    return Done(task, noted, files, rows, points)


def _rows(task: Task, run: Assembled, noted: Note) -> tuple[dict[str, pl.DataFrame], int]:
    """The rows of the small tables, and the number of points of the run."""
    heights = {name: sum(p.height(name) for p in run.parts) for name in BIG}
    chosen, inside, ignored = task.chosen
    corrected = replace(run.run, settings=chosen, settings_inside=inside, settings_ignored=ignored)
    rows = {name: frame for name, frame in runrows.rows(corrected, heights).items() if frame.height}
    seals = written(noted.known.written)
    rows["runs"] = rows["runs"].with_columns(pl.lit(seals).alias(SEALS))
    return rows, heights["points"]


def _noted(note: Note, run: Assembled, before: Known | None, files: Mapping[str, Path]) -> Note:
    old = {(s.path, s.print): (s.head, s.tail) for s in (before.files if before else ())}
    again = {p.source for p in run.parts if p.again}
    known = Known(
        [_seen(p, at, note.prints, run.run.path, old) for p, at in zip(run.parts, run.places, strict=True)],
        {name: seal(file) for name, file in files.items()},
    )
    until = None
    if run.run.status == "running" and run.run.ended is not None:
        until = (run.run.ended + silence(run.parts)).timestamp()
    return replace(
        note,
        prints={**note.prints, **dict.fromkeys(again, UNKNOWN)},
        known=known,
        until=until if until and until > time.time() else None,
    )


def _seen(
    part_: Part, place: Place, stats: Mapping[str, Print], root: Path, old: Mapping[tuple[str, Print], tuple[str, str]]
) -> Seen:
    stat = stats.get(part_.source, UNKNOWN)
    mark = part_.mark
    if (part_.source, stat) in old:
        head, tail = old[part_.source, stat]
    else:
        file = _file(root, part_.source)
        head = _hash(file, 0, min(HASHED_BYTES, stat.size))
        tail = _hash(file, mark.offset - HASHED_BYTES, mark.offset) if mark else ""
    return Seen(
        path=part_.source,
        print=stat,
        format=part_.format,
        length=part_.bytes,
        head=head,
        tail=tail,
        mark=mark,
        rows={name: height for name in (*BIG, *SMALL) if (height := part_.height(name))},
        place=place,
        small=packed({name: getattr(part_.tables, name) for name in SMALL}),
    )


def _file(root: Path, source: str) -> Path:
    return (root if root.is_dir() else root.parent) / source  # joined files have absolute paths


def _hash(file: Path, start: int, end: int) -> str:
    """A hash of the bytes from `start` (at least 0) to `end`; empty if they cannot be read."""
    try:
        with opening.opened(address.split(file)[0]) as handle:
            handle.seek(max(start, 0))
            return blake2b(handle.read(end - max(start, 0)), digest_size=8).hexdigest()
    except OSError:
        return ""


def _part(task: Task, file: Path, source: str, spool: Spool, *, only: bool) -> Part:
    seen = next((s for s in task.known.files if s.path == source), None) if task.known else None
    stat = task.note.prints.get(source)
    if seen is None or stat is None:
        return part(file, source, spool, only=only)
    if stat == seen.print:
        rows = Gathering(spool)
        rows.take(_stored(task, seen, seen.rows))
        return rows.part(source, seen.format, seen.length, seen.mark)
    if seen.format and seen.mark and _grown(file, stat, seen, seen.mark.offset):
        return part(file, source, spool, Earlier(seen.format, seen.mark, partial(_stored, task, seen, seen.mark.kept)))
    return part(file, source, spool, only=only)


def _grown(file: Path, stat: Print, seen: Seen, offset: int) -> bool:
    """Whether the file is the one that was read, and has grown."""
    return (
        stat.inode == seen.print.inode
        and stat.size > seen.print.size
        and stat.size >= offset
        and _hash(file, 0, min(HASHED_BYTES, seen.print.size)) == seen.head
        and _hash(file, offset - HASHED_BYTES, offset) == seen.tail
    )


def _stored(task: Task, seen: Seen, rows: Mapping[str, int]) -> Iterator[Tables]:
    """The first `rows` of each table from the last reading of the file, as its reader gave them."""
    known = task.known or Known((), {})
    before = list(islice(known.files, known.files.index(seen)))
    for name in BIG:
        start = sum(s.rows.get(name, 0) for s in before)
        for frame in slices(task.written[name], start, rows.get(name, 0)):
            found = unplace_rows(name, frame.cast(SCHEMAS[name]), seen.place)
            yield Tables(**{name: found})
    yield Tables(**{name: frame.head(rows.get(name, 0)) for name, frame in unpacked(seen.small, seen.rows).items()})


def _untouched(task: Task) -> bool:
    """Whether the files that we wrote the last time are unchanged."""
    known = task.known.written if task.known else {}
    return all(not broken(task.written[name], sealed) for name, sealed in known.items())


def _written(name: str, run: Assembled, folder: Path, group: int, *, streamed: bool) -> Path | None:
    """One big table as a file next to `folder`; None if it has no rows."""
    if not any(p.height(name) for p in run.parts):
        return None
    single = name == "points" and all(p.facts.single for p in run.parts)
    file = folder.with_name(f"{folder.name}-{name}.parquet")
    frames = (_narrow(frame) if single else frame for frame in run.frames(name) if frame.height)
    options: dict[str, Any] = {"compression": "zstd", "compression_level": 1, "row_group_size": group}
    options["statistics"] = streamed  # of use only if there are several row groups
    if streamed:
        schema = _narrow(pl.DataFrame(schema=SCHEMAS[name])).schema if single else SCHEMAS[name]
        register_io_source(lambda *_: frames, schema=schema, validate_schema=True).sink_parquet(file, **options)
    else:
        pl.concat(list(frames)).write_parquet(file, **options)
    return file


def _narrow(points: pl.DataFrame) -> pl.DataFrame:
    """The points with 32-bit values: half the size, if all fit. Readers of the store get 64 bits back."""
    return changed(points, [points["value"].cast(pl.Float32)])
