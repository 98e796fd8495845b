"""How tables lie in a store's folder.

    runs/ab/run_id=ab12…/points.parquet    big tables: one file a run and table (none where it has no rows)
    tables/config/<stamp>.parquet          small tables: one segment a batch of runs
    tables/config/<last>-<first>.parquet   the segments of several batches as one

    tables/ledger                          what must be there (see `ledger`)

A segment is named after its batch's stamp, which its rows carry as `written`. The stamp in a run's newest row of `runs`
says which rows of the tables that were read count for it; that in its newest row of `diagnoses`, which of those that
were judged. A segment counts when the ledger names it, which is replaced last: a batch is seen whole or not at all, and
readers need no lock.
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

SEGMENTS = 32  # more than this many segments of a table since its last full one are compacted into one
_SEGMENT = re.compile(r"\d{1,19}(?:-\d{1,19})?\.parquet")  # 1790000000000000000.parquet
FULL = 16 << 20  # bytes from which on a segment is left as it is: what a batch costs does not grow with the store


class Folder:
    """A store's folder as tables."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ledger: Ledger | None = None
        self._seen: tuple[int, int] | None = None  # the ledger's file, as it was when it was read

    def ledger(self) -> Ledger:
        """What must be there, as it is written down now. Raises DamagedError where that is gone or damaged."""
        try:
            found = os.stat(self.path / "tables" / ledgers.NAME)
            seen = (found.st_mtime_ns, found.st_ino)
        except OSError:
            seen = None
        if self._ledger is None or seen is None or seen != self._seen:
            self._ledger, self._seen = ledgers.load(self.path / "tables"), seen
        return self._ledger

    def save(self) -> None:
        """Write the ledger down: whole or not at all, and for good. Only for who holds the lock."""
        temporary, file = self.temporary / ledgers.NAME, self.path / "tables" / ledgers.NAME
        temporary.write_bytes((self._ledger or Ledger()).text())
        sync([temporary])
        _replace(temporary, file)
        sync([file.parent])
        found = os.stat(file)
        self._seen = (found.st_mtime_ns, found.st_ino)

    def take_stock(self) -> None:
        """Begin a new ledger with the segments that can be read. Only for who holds the lock."""
        self._ledger = Ledger()
        for file in (self.path / "tables").glob("*/*.parquet"):
            if file.parent.name in (*READ, *JUDGED, *KEPT) and _SEGMENT.fullmatch(file.name) and _readable(file):
                self._ledger.segments.setdefault(file.parent.name, {})[file.name] = seal(file)
        self.save()

    def forget(self, segments: Iterable[Path]) -> None:
        """Let segments be none of those that must be there (until `save`, only here)."""
        for file in segments:
            self.ledger().segments[file.parent.name].pop(file.name)

    def drop(self, runs: Iterable[str], stamp: int) -> None:
        """Let rows of runs up to a stamp count no more (until `save`, only here)."""
        self.ledger().dropped.update(dict.fromkeys(runs, stamp))

    def run_file(self, name: str, run_id: str) -> Path:
        """Where a big table of one run lies: no folder is scanned to open it."""
        return self.path / "runs" / run_id[:2] / f"run_id={run_id}" / f"{name}.parquet"

    def scan(self, name: str, runs: set[str] | None = None) -> pl.LazyFrame:
        """A table over all runs; of what was written twice the newest counts. Raises DamagedError where rows of a small
        table are missing (`runs`: of one of these); to collect a big one raises where a file that is needed is damaged.
        """
        damage.check(self, READ[-1] if name in BIG else name, runs)
        if name in KEPT:
            newest = self._every(name).unique(KEPT[name], keep="last", maintain_order=True)
            return newest.select(schema(name).names())
        return self._big(name) if name in BIG else self._newest(name).select(schema(name).names())

    def rows(self, names: Sequence[str], counting: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """What small tables have of the runs in `counting` alone; those that have nothing are left out. Only segments
        that rows of these runs may stand in are opened.
        """
        stamps = counting["newest"].to_list()
        held = {name: segments for name in names if (segments := _of(stamps, self.segments(name)))}
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
        """Only the files of runs that a filter on `run_id` leaves are opened: it is in their paths. A damaged one is
        named as a file that there is not, so that polars fails where it needs it, and nowhere else.
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
        """All rows of a table that keeps them, the oldest first, with their stamp."""
        return _scan(name, self.segments(name)).sort("written", maintain_order=True)

    def _newest(self, name: str) -> pl.LazyFrame:
        """The rows that count, with their stamp."""
        counting = self.counting(name)  # before the rows, of which there may be more
        return _counted(_scan(name, self.segments(name)), counting)

    def unjudged(self, version: str) -> pl.DataFrame:
        """`run_id` and `written` of what was read and not judged since by this version of the program."""
        lost = damage.affected(self, JUDGED)
        judged = self._newest("diagnoses").filter(version=version).select("run_id", written="reading")
        judged = judged.filter(~pl.col("run_id").is_in(list(lost)))
        read = self._newest("runs").select("run_id", "written", "path")
        read = read.filter(~pl.col("run_id").is_in(list(damage.affected(self, READ))))  # part of them is missing
        return read.join(judged, on=["run_id", "written"], how="anti").sort("path").drop("path").collect()

    def segments(self, name: str) -> list[Path]:
        """The sound segments that count, oldest first: not those that another stands for."""
        every = self._counting(name)
        return [file for file in every if not broken(file, every[file])]

    def damaged(self, name: str) -> dict[Path, str]:
        """The segments that should count and cannot be read, and why."""
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
        """The stamps that a segment stands for, from the first to the last."""
        return first(segment), last(segment)

    def within(self, name: str, start: int, end: int) -> set[str]:
        """The runs that have rows of these stamps in a table."""
        held = [file for file in self.segments(name) if first(file) <= end and start <= last(file)]
        rows = _scan(name, held).filter(pl.col("written").is_between(start, end)) if held else None
        return set() if rows is None else set(rows.select("run_id").unique().collect()["run_id"])

    def paths(self, runs: set[str]) -> dict[str, str]:
        """The paths of runs by id, as far as they can be read."""
        rows = _scan("runs", self.segments("runs")).filter(pl.col("run_id").is_in(list(runs)))
        return dict(rows.select("run_id", "path").collect().iter_rows())

    def unsound(self, name: str, run_id: str, seals: str | None) -> str:
        """Why a run's big table is not the one whose seal stands in its row of `runs`; empty where it is."""
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
        """Write one segment of each table, and move `files` into their places (big tables, with their `seals` by run);
        the ledger follows when all are there for good. Columns that a frame lacks are NULL. Only for the lock's holder.
        """
        ledger = self.ledger()
        newest = max((last(Path(file)) for name in names for file in ledger.segments.get(name, {})), default=0)
        stamp = max(time_ns(), newest + 1, *(until + 1 for until in ledger.dropped.values()))  # even if clocks go back
        rows = {name: _joined(name, batch[name]).with_columns(written=pl.lit(stamp)) for name in names if batch[name]}
        segments = [self._write(frame, name, f"{stamp}.parquet") for name, frame in rows.items() if frame.height]
        sealed = [(place, seal(file)) for file, place in segments]
        moves = [*files, *segments]
        sync(file for file, _ in moves)
        if seals:  # who is killed in between leaves files that belong to no row yet
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
        """Put many segments into one. They stay for those who read them right now, until the next write. A full one is
        never written again, but removed when nothing in it counts any more.
        """
        segments, place = self.segments(name), self.path / "tables" / name
        counting_files = self._counting(name)
        for file in set(place.glob("*.parquet")).difference(counting_files):
            file.unlink()
        full = max((i for i, f in enumerate(segments, 1) if f.stat().st_size >= FULL), default=0)
        rest = segments[full:]
        if len(rest) <= SEGMENTS or len(segments) < len(counting_files):  # not over a gap
            return
        rows, old = _scan(name, rest), set[Path]()
        if name not in KEPT:
            counting = self.counting(name)
            rows = _counted(rows, counting)
            stamps = counting["newest"].unique().to_list()
            old = set(segments[:full]).difference(_of(stamps, segments))
        file, to = self._write(rows.collect(), name, f"{last(rest[-1])}-{first(rest[0])}.parquet")
        sealed = seal(file)
        sync([file])
        _replace(file, to)
        sync([place])
        ledger = self.ledger().segments[name]
        for gone in (*rest, *old):
            del ledger[gone.name]
        ledger[to.name] = sealed
        self.save()
        for gone in old:
            gone.unlink()

    def _write(self, rows: pl.DataFrame, name: str, file: str) -> tuple[Path, Path]:
        """A segment as a temporary file, and its place: there it is whole or not at all, if it is synced before."""
        temporary = self.temporary / f"{name}-{file}"
        try:
            rows.write_parquet(temporary, compression="zstd", compression_level=3)
        except pl.exceptions.PolarsError as error:  # a full disk may show in the file's own format
            raise OSError(f"{temporary} cannot be written: {error}") from None
        return temporary, self.path / "tables" / name / file

    @property
    def temporary(self) -> Path:
        """Where files are until they are whole."""
        folder = self.path / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def clear(self) -> None:
        """Remove what was left half done. Only for who holds the lock."""
        for left in self.temporary.iterdir():
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)  # a process that outlived its parent may still write there
            else:
                left.unlink(missing_ok=True)


def _joined(name: str, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=schema(name)), *frames], how="diagonal")


def _replace(file: Path, to: Path) -> None:
    """Put a synced file into its place in the store, even where somebody put a folder there."""
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
    """The newest stamp of its rows."""
    return int(segment.stem.partition("-")[0])


def first(segment: Path) -> int:
    """The oldest stamp that it stands for."""
    return int(segment.stem.rpartition("-")[2])


def _of(stamps: Sequence[int], segments: list[Path]) -> list[Path]:
    """The segments that rows of these stamps may stand in."""
    spans = ((file, first(file), last(file)) for file in segments)
    return [file for file, first, last in spans if any(first <= stamp <= last for stamp in stamps)]


def _scan(name: str, segments: list[Path]) -> pl.LazyFrame:
    """All rows of some segments, with their stamp."""
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
