"""The files of a store's folder.

    runs/ab/run_id=ab12…/points.parquet    big tables: one file for each run and table (none if it has no rows)
    tables/config/<stamp>.parquet          small tables: one segment for each batch of runs
    tables/config/<last>-<first>.parquet   the segments of several batches as one

    tables/ledger                          the list of segments (see `ledger`)

A segment has the name of its batch's stamp, and its rows carry the stamp as `written`. A row of a reading counts if its
stamp is that of the run's newest row of `runs`; a judged row, if its stamp is that of the newest row of `diagnoses`. A
segment counts if the ledger names it. The ledger is replaced last: readers see a batch whole or not at all, and need no
lock.
"""

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import time_ns

import polars as pl

from loganalyst.sources.filetables import BIG
from loganalyst.store import damage
from loganalyst.store import ledger as ledgers
from loganalyst.store.columns import ALL_TABLES, JUDGED, KEPT, READ, SEALS, schema
from loganalyst.store.ledger import Ledger, Seal, broken, seal
from loganalyst.writing import move, sync

__all__ = ["ALL_TABLES", "BIG", "JUDGED", "KEPT", "READ", "Folder", "move", "schema", "sync"]

MAX_SEGMENTS = 32  # of a table since its last full one; more are compacted into one
_SEGMENT = re.compile(r"\d{1,19}(?:-\d{1,19})?\.parquet")  # 1790000000000000000.parquet
FULL_SEGMENT_BYTES = (
    16 << 20
)  # larger segments are never rewritten: so the cost of a batch does not grow with the store


class Folder:
    """A store's folder as tables. More than `max_segments` segments below `full` bytes are compacted."""

    def __init__(self, path: Path, max_segments: int = MAX_SEGMENTS, full: int = FULL_SEGMENT_BYTES) -> None:
        self.path = path
        self._max_segments, self._full = max_segments, full
        self._ledger: Ledger | None = None
        self._seen: tuple[int, int] | None = None  # modification time and inode of the ledger that was read

    def ledger(self) -> Ledger:
        """The ledger as it is on disk now. Raises DamagedError where it is missing or damaged."""
        try:
            found = os.stat(self.path / "tables" / ledgers.NAME)
            seen = (found.st_mtime_ns, found.st_ino)
        except OSError:
            seen = None
        if self._ledger is None or seen is None or seen != self._seen:
            self._ledger, self._seen = ledgers.load(self.path / "tables"), seen
        return self._ledger

    def save(self) -> None:
        """Write the ledger to disk, whole or not at all. Only for the holder of the lock."""
        temporary, file = self.temporary / ledgers.NAME, self.path / "tables" / ledgers.NAME
        temporary.write_bytes((self._ledger or Ledger()).text())
        sync([temporary])
        _replace(temporary, file)
        sync([file.parent])
        found = os.stat(file)
        self._seen = (found.st_mtime_ns, found.st_ino)

    def take_stock(self) -> None:
        """Begin a new ledger with the segments that can be read. Only for the holder of the lock."""
        self._ledger = Ledger()
        for file in (self.path / "tables").glob("*/*.parquet"):
            if file.parent.name in (*READ, *JUDGED, *KEPT) and _SEGMENT.fullmatch(file.name) and _readable(file):
                self._ledger.segments.setdefault(file.parent.name, {})[file.name] = seal(file)
        self.save()

    def forget(self, segments: Iterable[Path]) -> None:
        """Remove segments from the ledger in memory; `save` writes it."""
        for file in segments:
            self.ledger().segments[file.parent.name].pop(file.name)

    def drop(self, runs: Iterable[str], stamp: int) -> None:
        """Make rows of runs up to a stamp not count, in the ledger in memory; `save` writes it."""
        self.ledger().dropped.update(dict.fromkeys(runs, stamp))

    def run_file(self, name: str, run_id: str) -> Path:
        """The path of a big table of one run; no folder is scanned to find it."""
        return self.path / "runs" / run_id[:2] / f"run_id={run_id}" / f"{name}.parquet"

    def scan(self, name: str, runs: set[str] | None = None) -> pl.LazyFrame:
        """A table over all runs; of rows that were written twice the newest count. Raises DamagedError where rows of a
        small table are missing (of one of `runs`, if given). A big table raises when it is collected, if it needs a
        damaged file.
        """
        damage.check(self, READ[-1] if name in BIG else name, runs)
        if name in KEPT:
            newest = self._every(name).unique(KEPT[name], keep="last", maintain_order=True)
            return newest.select(schema(name).names())
        return self._big(name) if name in BIG else self._newest(name).select(schema(name).names())

    def rows(self, names: Sequence[str], counting: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The rows of the runs in `counting`, by small table; tables without rows are left out. Only segments that may
        hold rows of these runs are opened.
        """
        stamps = counting["newest"].to_list()
        held = {name: segments for name in names if (segments := _holding(stamps, self.segments(name)))}
        hidden = {"runs": [SEALS]}
        found = [
            _counted(_scan(name, segments), counting).select(*schema(name).names(), *hidden.get(name, []))
            for name, segments in held.items()
        ]
        return dict(zip(held, pl.collect_all(found), strict=True))

    def counting(self, name: str) -> pl.DataFrame:
        """The stamp that counts for each run in a small table: columns `run_id` and `newest`."""
        marker = READ[-1] if name in READ else JUDGED[-1]
        found = _scan(marker, self.segments(marker)).group_by("run_id").agg(newest=pl.col("written").max()).collect()
        if marker not in READ or not (dropped := self.ledger().dropped):
            return found
        until = pl.col("run_id").replace_strict(dropped, default=0, return_dtype=pl.Int64)
        return found.filter(pl.col("newest") > until)

    def _big(self, name: str) -> pl.LazyFrame:
        """A filter on `run_id` decides which files are opened, for the id is in their paths. A damaged file is replaced
        by a path that does not exist, so that polars fails only if it needs the file.
        """
        runs = self.heights(name)
        columns = schema(name)
        if not runs.height:
            return pl.LazyFrame(schema=columns)
        found = pl.scan_parquet(
            [self._file_or_why(name, run, seals) for run, _, seals in runs.iter_rows()],
            hive_partitioning=True,
            hive_schema={"run_id": pl.String},
            schema={k: t for k, t in columns.items() if k != "run_id"},
            cast_options=pl.ScanCastOptions(float_cast="upcast"),
            glob=False,
        )
        return found.select(columns.names())

    def heights(self, name: str) -> pl.DataFrame:
        """The runs that have rows in a big table: `run_id`, `path`, and the seals of their files."""
        found = self._newest("runs").filter(pl.col(name) > 0)
        return found.select("run_id", "path", SEALS).sort("run_id").collect()

    def _file_or_why(self, name: str, run_id: str, seals: str | None) -> str:
        file, why = self.run_file(name, run_id), self.unsound(name, run_id, seals)
        return f"{file} {why}; {ledgers.HEALING}" if why else str(file)

    def _every(self, name: str) -> pl.LazyFrame:
        """All rows of a table that keeps old ones, oldest first, with their stamps."""
        return _scan(name, self.segments(name)).sort("written", maintain_order=True)

    def _newest(self, name: str) -> pl.LazyFrame:
        """The rows that count, with their stamps."""
        counting = self.counting(name)  # before the segments are listed: later ones are ignored
        return _counted(_scan(name, self.segments(name)), counting)

    def unjudged(self, version: str) -> pl.DataFrame:
        """`run_id` and `written` of the runs that this version of the program has not judged since they were read."""
        lost = damage.affected(self, JUDGED)
        judged = self._newest("diagnoses").filter(version=version).select("run_id", written="reading")
        judged = judged.filter(~pl.col("run_id").is_in(list(lost)))
        read = self._newest("runs").select("run_id", "written", "path")
        read = read.filter(~pl.col("run_id").is_in(list(damage.affected(self, READ))))  # some of their rows are missing
        return read.join(judged, on=["run_id", "written"], how="anti").sort("path").drop("path").collect()

    def segments(self, name: str) -> list[Path]:
        """The sound segments that count, oldest first, without those that a compacted one replaces."""
        every = self._counting(name)
        return [file for file in every if not broken(file, every[file])]

    def damaged(self, name: str) -> dict[Path, str]:
        """The segments that should count and are damaged, each with the reason."""
        return {file: why for file, sealed in self._counting(name).items() if (why := broken(file, sealed))}

    def _counting(self, name: str) -> dict[Path, Seal]:
        """The segments that should count with their seals, oldest first."""
        place, counting, covered = (
            self.path / "tables" / name,
            list[tuple[Path, Seal]](),
            1 << 63,
        )  # stamps from here on
        named = {place / file: sealed for file, sealed in self.ledger().segments.get(name, {}).items()}
        for file in sorted(named, key=lambda f: (-last(f), first(f))):
            if last(file) < covered:
                counting.append((file, named[file]))
                covered = first(file)
        return dict(reversed(counting))

    def span(self, segment: Path) -> tuple[int, int]:
        """The first and the last stamp that a segment covers."""
        return first(segment), last(segment)

    def within(self, name: str, start: int, end: int) -> set[str]:
        """The runs that have rows with these stamps in a table."""
        held = [file for file in self.segments(name) if first(file) <= end and start <= last(file)]
        rows = _scan(name, held).filter(pl.col("written").is_between(start, end)) if held else None
        return set() if rows is None else set(rows.select("run_id").unique().collect()["run_id"])

    def paths(self, runs: set[str]) -> dict[str, str]:
        """The paths of runs by id, where they can be read."""
        rows = _scan("runs", self.segments("runs")).filter(pl.col("run_id").is_in(list(runs)))
        return dict(rows.select("run_id", "path").collect().iter_rows())

    def unsound(self, name: str, run_id: str, seals: str | None) -> str:
        """Why a run's big table does not match the seal in its row of `runs`; empty if it does."""
        sealed, pending = ledgers.read(seals).get(name), self.ledger().pending.get(run_id, {}).get(name)
        file = self.run_file(name, run_id)
        why = broken(file, sealed) if sealed else ""
        return why if why and (pending is None or broken(file, pending)) else ""

    def append(
        self,
        names: Sequence[str],
        batch: Mapping[str, Sequence[pl.DataFrame]],
        files: Iterable[tuple[Path, Path]] = (),
        seals: Mapping[str, Mapping[str, Seal]] | None = None,
    ) -> None:
        """Write one segment of each table, and move `files` (big tables, with their `seals` by run) into their places.
        The ledger follows when all are on disk. Columns that a frame lacks are NULL. Only for the holder of the lock.
        """
        ledger = self.ledger()
        newest = max((last(Path(file)) for name in names for file in ledger.segments.get(name, {})), default=0)
        stamp = max(
            time_ns(), newest + 1, *(until + 1 for until in ledger.dropped.values())
        )  # even if the clock was set back
        rows = {name: _joined(name, batch[name]).with_columns(written=pl.lit(stamp)) for name in names if batch[name]}
        segments = [self._write(frame, name, f"{stamp}.parquet") for name, frame in rows.items() if frame.height]
        sealed = [(place, seal(file)) for file, place in segments]
        moves = [*files, *segments]
        sync(file for file, _ in moves)
        if seals:  # until the rows are written: the process may be killed in between
            ledger.pending |= {run: dict(of_run) for run, of_run in seals.items()}
            self.save()
        for file, place in moves:
            _replace(file, place)
        sync({place.parent for _, place in moves})
        for place, one in sealed:
            ledger.segments.setdefault(place.parent.name, {})[place.name] = one
        for run in seals or ():
            del ledger.pending[run]
        self.save()
        for name in rows:
            self._compact(name)

    def _compact(self, name: str) -> None:
        """Compact many segments into one. The old ones stay until the next write, for processes that read them now. A
        full segment is not rewritten, but removed when none of its rows count any more.
        """
        segments, place = self.segments(name), self.path / "tables" / name
        counting_files = self._counting(name)
        for file in set(place.glob("*.parquet")).difference(counting_files):
            file.unlink()
        full = max((i for i, f in enumerate(segments, 1) if f.stat().st_size >= self._full), default=0)
        recent = segments[full:]
        if len(recent) <= self._max_segments or len(segments) < len(counting_files):  # not across a damaged one
            return
        rows, old = _scan(name, recent), set[Path]()
        if name not in KEPT:
            counting = self.counting(name)
            rows = _counted(rows, counting)
            stamps = counting["newest"].unique().to_list()
            old = set(segments[:full]).difference(_holding(stamps, segments))
        file, to = self._write(rows.collect(), name, f"{last(recent[-1])}-{first(recent[0])}.parquet")
        sealed = seal(file)
        sync([file])
        _replace(file, to)
        sync([place])
        ledger = self.ledger().segments[name]
        for gone in (*recent, *old):
            del ledger[gone.name]
        ledger[to.name] = sealed
        self.save()
        for gone in old:
            gone.unlink()

    def _write(self, rows: pl.DataFrame, name: str, file: str) -> tuple[Path, Path]:
        """A segment as a temporary file, and its place. It must be synced before it is moved there."""
        temporary = self.temporary / f"{name}-{file}"
        try:
            rows.write_parquet(temporary, compression="zstd", compression_level=3)
        except pl.exceptions.PolarsError as error:  # polars may report a full disk as an error of the format
            raise OSError(f"{temporary} cannot be written: {error}") from None
        return temporary, self.path / "tables" / name / file

    @property
    def temporary(self) -> Path:
        """The folder for files that are not complete yet."""
        folder = self.path / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def clear(self) -> None:
        """Remove unfinished files. Only for the holder of the lock."""
        for left in self.temporary.iterdir():
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)  # a process that outlived its parent may still write there
            else:
                left.unlink(missing_ok=True)


def _joined(name: str, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=schema(name)), *frames], how="diagonal")


def _replace(file: Path, to: Path) -> None:
    """Put a synced file into its place in the store, even if a folder is there."""
    try:
        move(file, to)
    except IsADirectoryError:
        shutil.rmtree(to)
        move(file, to)


def _readable(file: Path) -> bool:
    """Whether a segment can be read to its end."""
    try:
        pl.read_parquet(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False
    return True


def last(segment: Path) -> int:
    """The newest stamp of a segment's rows."""
    return int(segment.stem.partition("-")[0])


def first(segment: Path) -> int:
    """The oldest stamp that a segment covers."""
    return int(segment.stem.rpartition("-")[2])


def _holding(stamps: Sequence[int], segments: list[Path]) -> list[Path]:
    """The segments that may hold rows with these stamps."""
    spans = ((file, first(file), last(file)) for file in segments)
    return [file for file, first, last in spans if any(first <= stamp <= last for stamp in stamps)]


def _scan(name: str, segments: list[Path]) -> pl.LazyFrame:
    """All rows of some segments, with their stamps."""
    hidden = [(SEALS, pl.String())] if name == "runs" else []
    columns = pl.Schema([*schema(name).items(), *hidden, ("written", pl.Int64())])
    if not segments:
        return pl.LazyFrame(schema=columns)
    return pl.scan_parquet(
        segments, schema=columns, missing_columns="insert", extra_columns="ignore", glob=False, hive_partitioning=False
    )


def _counted(rows: pl.LazyFrame, counting: pl.DataFrame) -> pl.LazyFrame:
    """The rows whose stamp counts for their run."""
    found = rows.join(counting.lazy(), on="run_id", maintain_order="left")
    return found.filter(pl.col("written") == pl.col("newest")).drop("newest")
