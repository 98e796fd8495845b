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

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import time_ns

import polars as pl

from loganalyst.sources.filetables import BIG
from loganalyst.store import damage
from loganalyst.store import ledger as ledgers
from loganalyst.store.columns import ALL_TABLES, JUDGED, KEPT, READ, SEALS, schema
from loganalyst.store.ledger import Seal, broken, seal
from loganalyst.store.segmentfolder import SegmentFolder, put
from loganalyst.store.segments import counted, first, holding, joined, last, scan_segments
from loganalyst.writing import sync

__all__ = ["ALL_TABLES", "BIG", "JUDGED", "KEPT", "READ", "Folder", "schema"]

MAX_SEGMENTS = 32  # of a table since its last full one; more are compacted into one
FULL_SEGMENT_BYTES = (
    16 << 20
)  # larger segments are never rewritten: so the cost of a batch does not grow with the store


class Folder(SegmentFolder):
    """A store's folder as tables. More than `max_segments` segments below `full` bytes are compacted."""

    def __init__(self, path: Path, max_segments: int = MAX_SEGMENTS, full: int = FULL_SEGMENT_BYTES) -> None:
        super().__init__(path)
        self._max_segments, self._full = max_segments, full

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
        held = {name: segments for name in names if (segments := holding(stamps, self.segments(name)))}
        hidden = {"runs": [SEALS]}
        found = [
            counted(scan_segments(name, segments), counting).select(*schema(name).names(), *hidden.get(name, []))
            for name, segments in held.items()
        ]
        return dict(zip(held, pl.collect_all(found), strict=True))

    def counting(self, name: str) -> pl.DataFrame:
        """The stamp that counts for each run in a small table: columns `run_id` and `newest`."""
        marker = READ[-1] if name in READ else JUDGED[-1]
        found = (
            scan_segments(marker, self.segments(marker))
            .group_by("run_id")
            .agg(newest=pl.col("written").max())
            .collect()
        )
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
        return scan_segments(name, self.segments(name)).sort("written", maintain_order=True)

    def _newest(self, name: str) -> pl.LazyFrame:
        """The rows that count, with their stamps."""
        counting = self.counting(name)  # before the segments are listed: later ones are ignored
        return counted(scan_segments(name, self.segments(name)), counting)

    def unjudged(self, version: str) -> pl.DataFrame:
        """`run_id` and `written` of the runs that this version of the program has not judged since they were read."""
        lost = damage.affected(self, JUDGED)
        judged = self._newest("diagnoses").filter(version=version).select("run_id", written="reading")
        judged = judged.filter(~pl.col("run_id").is_in(list(lost)))
        read = self._newest("runs").select("run_id", "written", "path")
        read = read.filter(~pl.col("run_id").is_in(list(damage.affected(self, READ))))  # some of their rows are missing
        return read.join(judged, on=["run_id", "written"], how="anti").sort("path").drop("path").collect()

    def within(self, name: str, start: int, end: int) -> set[str]:
        """The runs that have rows with these stamps in a table."""
        held = [file for file in self.segments(name) if first(file) <= end and start <= last(file)]
        rows = scan_segments(name, held).filter(pl.col("written").is_between(start, end)) if held else None
        return set() if rows is None else set(rows.select("run_id").unique().collect()["run_id"])

    def paths(self, runs: set[str]) -> dict[str, str]:
        """The paths of runs by id, where they can be read."""
        rows = scan_segments("runs", self.segments("runs")).filter(pl.col("run_id").is_in(list(runs)))
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
        rows = {name: joined(name, batch[name]).with_columns(written=pl.lit(stamp)) for name in names if batch[name]}
        segments = [self._write(frame, name, f"{stamp}.parquet") for name, frame in rows.items() if frame.height]
        sealed = [(place, seal(file)) for file, place in segments]
        moves = [*files, *segments]
        sync(file for file, _ in moves)
        if seals:  # until the rows are written: the process may be killed in between
            ledger.pending |= {run: dict(of_run) for run, of_run in seals.items()}
            self.save()
        for file, place in moves:
            put(file, place)
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
        files = self.counting_files(name)
        for file in set(place.glob("*.parquet")).difference(files):
            file.unlink()
        full = max((i for i, f in enumerate(segments, 1) if f.stat().st_size >= self._full), default=0)
        recent = segments[full:]
        if len(recent) <= self._max_segments or len(segments) < len(files):  # not across a damaged one
            return
        rows, old = scan_segments(name, recent), set[Path]()
        if name not in KEPT:
            counting = self.counting(name)
            rows = counted(rows, counting)
            stamps = counting["newest"].unique().to_list()
            old = set(segments[:full]).difference(holding(stamps, segments))
        file, to = self._write(rows.collect(), name, f"{last(recent[-1])}-{first(recent[0])}.parquet")
        sealed = seal(file)
        sync([file])
        put(file, to)
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
