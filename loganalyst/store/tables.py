"""How tables lie in a store's folder.

    runs/ab/run_id=ab12…/points.parquet    big tables: one file a run and table (none where it has no rows)
    tables/config/<stamp>.parquet          small tables: one segment a batch of runs
    tables/config/<last>-<first>.parquet   the segments of several batches as one

A segment is named after its batch's stamp, which its rows carry as `written`. The stamp in a run's newest row of `runs`
says which rows of the tables that were read count for it; that in its newest row of `diagnoses`, which of those that
were judged. These two are written last, so that a batch is seen whole or not at all, and readers need no lock.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from time import time_ns

import polars as pl

from loganalyst.model import SCHEMAS, Time
from loganalyst.sources.part import BIG
from loganalyst.writing import move, sync

SEGMENTS = 32  # more than this many segments of a table since its last full one are compacted into one
FULL = 16 << 20  # bytes from which on a segment is left as it is: what a batch costs does not grow with the store


def _schema(**columns: pl.DataType | type[pl.DataType]) -> pl.Schema:
    return pl.Schema(columns)


# fmt: off
_OWN = {
    # one row a run; the last three are its rows in the big tables
    "runs": _schema(
        path=pl.String, name=pl.String, status=pl.String, formats=pl.String, framework=pl.String, host=pl.String,
        started=Time, ended=Time, job=pl.String, basis=pl.List(pl.String), suggested=pl.List(pl.String),
        ignored=pl.List(pl.String), settings=pl.String, settings_inside=pl.Boolean,
        settings_ignored=pl.List(pl.String),
        points=pl.Int64, distributions=pl.Int64, lines=pl.Int64,
    ),
    # one row a file of a run
    "sources": _schema(path=pl.String, format=pl.String, bytes=pl.Int64, points=pl.Int64, lines=pl.Int64),
    # one row a run; `label` to `node` are of the first cause, as is `origin` (`ours`, or the file of a rule or pattern
    # that is not); `why` of a run that could not be judged; `settings_obeyed` are `FILE: what`; `json` is the whole
    # diagnosis, `version` that of the program and its rules, `reading` the stamp of what was judged
    "diagnoses": _schema(
        status=pl.String, label=pl.String, confidence=pl.Float64,
        cause=pl.String, issue=pl.String, severity=pl.String, verdict=pl.String, step=pl.Int64, file=pl.String,
        line=pl.Int64, node=pl.String, says=pl.String, why=pl.String,
        origin=pl.String, accepted=pl.List(pl.String), settings_obeyed=pl.List(pl.String),
        settings_ignored=pl.List(pl.String),
        json=pl.String, version=pl.String, reading=pl.Int64,
    ),
    # what the user confirmed: the rule (NULL: a label alone, or healthy) and label that are true of a run
    "truths": _schema(path=pl.String, cause=pl.String, label=pl.String, note=pl.String, time=Time),
    # a finding that `scan` has told (state `told`) or was about to tell (`telling`)
    "reported": _schema(finding=pl.String, state=pl.String, time=Time),
    # what became of a cause of the run `old`: one row a cause; `fix` is what was changed, `lineage` what both belong to
    "verifications": _schema(
        old=pl.String, old_path=pl.String, path=pl.String, lineage=pl.String, cause=pl.String, label=pl.String,
        outcome=pl.String, applied=pl.Boolean, fix=pl.String, time=Time,
    ),
}
# fmt: on
READ = (
    "blocks",
    "config",
    "jobs",
    "checkpoints",
    "collectives",
    "process_groups",
    "gaps",
    "sessions",
    "sources",
    "runs",
)  # small tables; the last makes it count
JUDGED = ("features", "feature_sources", "findings", "diagnoses")  # the same
# What cannot be made again from the runs: no row is dropped. Of rows that agree in these columns the newest counts
KEPT = {"truths": ["run_id"], "reported": ["finding"], "verifications": ["run_id", "old", "cause"]}
ALL_TABLES = (*BIG, *READ, *JUDGED, *KEPT)


@cache
def schema(name: str) -> pl.Schema:
    """The columns of a table of the store, `run_id` first."""
    columns = _features() if name == "features" else _OWN.get(name) or SCHEMAS[name]
    return pl.Schema([("run_id", pl.String()), *columns.items()])


def _features() -> pl.Schema:
    from loganalyst.features import declared

    dtypes = {"float": pl.Float64(), "int": pl.Int64(), "bool": pl.Boolean(), "text": pl.String()}
    return pl.Schema({feature.name: dtypes[feature.dtype] for feature in declared().values()})


class Folder:
    """A store's folder as tables."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run_file(self, name: str, run_id: str) -> Path:
        """Where a big table of one run lies: no folder is scanned to open it."""
        return self.path / "runs" / run_id[:2] / f"run_id={run_id}" / f"{name}.parquet"

    def scan(self, name: str) -> pl.LazyFrame:
        """A table over all runs; of what was written twice the newest counts."""
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
        found = [
            _counted(_scan(name, segments), counting).select(schema(name).names()) for name, segments in held.items()
        ]
        return dict(zip(held, pl.collect_all(found), strict=True))

    def counting(self, name: str) -> pl.DataFrame:
        """The stamp that counts for each run in a small table: columns `run_id` and `newest`."""
        marker = READ[-1] if name in READ else JUDGED[-1]
        return _scan(marker, self.segments(marker)).group_by("run_id").agg(newest=pl.col("written").max()).collect()

    def _big(self, name: str) -> pl.LazyFrame:
        """Only the files of runs that a filter on `run_id` leaves are opened: it is in their paths."""
        runs = self._newest("runs").filter(pl.col(name) > 0).select("run_id").collect()["run_id"]
        columns = schema(name)
        if not len(runs):
            return pl.LazyFrame(schema=columns)
        found = pl.scan_parquet(
            [self.run_file(name, run) for run in runs.sort()],
            hive_partitioning=True,
            hive_schema={"run_id": pl.String},
            schema={k: t for k, t in columns.items() if k != "run_id"},
            cast_options=pl.ScanCastOptions(float_cast="upcast"),
            glob=False,
        )
        return found.select(columns.names())

    def _every(self, name: str) -> pl.LazyFrame:
        """All rows of a table that keeps them, the oldest first, with their stamp."""
        return _scan(name, self.segments(name)).sort("written", maintain_order=True)

    def _newest(self, name: str) -> pl.LazyFrame:
        """The rows that count, with their stamp."""
        counting = self.counting(name)  # before the rows, of which there may be more
        return _counted(_scan(name, self.segments(name)), counting)

    def unjudged(self, version: str) -> pl.DataFrame:
        """`run_id` and `written` of what was read and not judged since by this version of the program."""
        judged = self._newest("diagnoses").filter(version=version).select("run_id", written="reading")
        read = self._newest("runs").select("run_id", "written", "path")
        return read.join(judged, on=["run_id", "written"], how="anti").sort("path").drop("path").collect()

    def segments(self, name: str) -> list[Path]:
        """The segments that count, oldest first: not those that another stands for."""
        counting, covered = list[Path](), 1 << 63  # stamps from here on
        for file in sorted((self.path / "tables" / name).glob("*.parquet"), key=lambda f: (-_last(f), _first(f))):
            if _last(file) < covered:
                counting.append(file)
                covered = _first(file)
        return counting[::-1]

    def append(
        self,
        names: Sequence[str],
        batch: Mapping[str, Sequence[pl.DataFrame]],
        files: Iterable[tuple[Path, Path]] = (),
    ) -> None:
        """Write one segment of each table, and move `files` into their places; the segment of the last table follows
        when all others are there for good. Columns that a frame lacks are NULL. Only for who holds the lock.
        """
        last = max((_last(f) for name in names for f in self.segments(name)), default=0)
        stamp = max(time_ns(), last + 1)  # later than all before it, even where the clock was set back
        rows = {name: _joined(name, batch[name]).with_columns(written=pl.lit(stamp)) for name in names if batch[name]}
        segments = (self._write(frame, name, f"{stamp}.parquet") for name, frame in rows.items() if frame.height)
        moves = [*files, *segments]
        lasts = {file: place for file, place in moves if place.parent.name == names[-1]}
        firsts = {file: place for file, place in moves if file not in lasts}
        sync([*firsts, *lasts])
        for some in (firsts, lasts):
            for file, place in some.items():
                move(file, place)
            sync({place.parent for place in some.values()})
        for name in rows:
            self._compact(name)

    def _compact(self, name: str) -> None:
        """Put many segments into one. They stay for those who read them right now, until the next write. A full one is
        never written again, but removed when nothing in it counts any more.
        """
        segments = self.segments(name)
        for file in set((self.path / "tables" / name).glob("*.parquet")).difference(segments):
            file.unlink()
        full = max((i for i, f in enumerate(segments, 1) if f.stat().st_size >= FULL), default=0)
        rest = segments[full:]
        if len(rest) <= SEGMENTS:
            return
        rows = _scan(name, rest)
        if name not in KEPT:
            counting = self.counting(name)
            rows = _counted(rows, counting)
            stamps = counting["newest"].unique().to_list()
            for file in set(segments[:full]).difference(_of(stamps, segments)):
                file.unlink()
        file, place = self._write(rows.collect(), name, f"{_last(rest[-1])}-{_first(rest[0])}.parquet")
        sync([file])
        move(file, place)
        sync([place.parent])

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


def _last(segment: Path) -> int:
    """The newest stamp of its rows."""
    return int(segment.stem.partition("-")[0])


def _first(segment: Path) -> int:
    """The oldest stamp that it stands for."""
    return int(segment.stem.rpartition("-")[2])


def _of(stamps: Sequence[int], segments: list[Path]) -> list[Path]:
    """The segments that rows of these stamps may stand in."""
    spans = ((file, _first(file), _last(file)) for file in segments)
    return [file for file, first, last in spans if any(first <= stamp <= last for stamp in stamps)]


def _scan(name: str, segments: list[Path]) -> pl.LazyFrame:
    """All rows of some segments, with their stamp."""
    columns = pl.Schema([*schema(name).items(), ("written", pl.Int64())])
    if not segments:
        return pl.LazyFrame(schema=columns)
    return pl.scan_parquet(
        segments, schema=columns, missing_columns="insert", extra_columns="ignore", glob=False, hive_partitioning=False
    )


def _counted(rows: pl.LazyFrame, counting: pl.DataFrame) -> pl.LazyFrame:
    """The rows whose stamp counts for their run."""
    found = rows.join(counting.lazy(), on="run_id", maintain_order="left")
    return found.filter(pl.col("written") == pl.col("newest")).drop("newest")
