"""A cache of what was read and found: Parquet files any tool can open, and fingerprints that say what is unchanged.

Big tables are one Parquet file a run, at a path made of the run id. Small tables are append-only segments, one a batch,
named after the batch's stamp; a run's row in `runs` says which stamp counts, and is written last, so that a batch is
seen whole or not at all. One process writes at a time, readers need no lock. Everything here can be deleted and is made
again from the runs.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from time import time_ns
from typing import Any

import polars as pl

from loganalyst.errors import LogAnalystError, StoreError
from loganalyst.model import SCHEMAS, Diagnosis, Run, Time, Witness, table

BIG = ("points", "distributions", "lines")
SMALL = (
    "features",
    "feature_sources",
    "findings",
    "diagnoses",
    "config",
    "jobs",
    "checkpoints",
    "gaps",
    "sessions",
    "runs",  # last: its rows make a batch count
)
SEGMENTS = 32  # more than this many segments of a table are compacted into one
ALL = "-all"  # ends the name of a compacted segment: it stands for all before it
HEAD = 1 << 12
BATCH = 100  # runs held in memory before they are written
PATIENCE = 600.0  # seconds to wait for another process that writes

Prints = Mapping[str, tuple[int, int, int, str]]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    run TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, inode INTEGER NOT NULL,
    head TEXT NOT NULL, PRIMARY KEY (run, path)
)
"""


class Store:
    """The store in folder `path`, made on first use. Tables are properties that give polars LazyFrames.

    Raises StoreError where the folder cannot be written or holds something else.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._database() as database:
            database.execute(_SCHEMA)

    def __getattr__(self, name: str) -> pl.LazyFrame:
        if name in BIG or name in SMALL:
            return self.table(name)
        raise AttributeError(f"a store has no table {name!r}; it has {', '.join((*BIG, *SMALL))}")

    def ingest(self, paths: Iterable[str | Path]) -> dict[str, str]:
        """Read and diagnose every run of `paths` that changed; path -> "new", "unchanged" or why it was not read."""
        from loganalyst import pipeline

        done: dict[str, str] = {}
        batch: list[Diagnosis] = []
        prints: dict[str, Prints] = {}
        for path in paths:
            try:
                now = _prints(Path(path))  # before it is read: what is written meanwhile counts as a change
                if now == self._remembered(Path(path)):
                    done[str(path)] = "unchanged"
                    continue
                batch.append(pipeline.diagnose(path))
                prints[batch[-1].run.id] = now
                done[str(path)] = "new"
            except (LogAnalystError, OSError) as error:
                done[str(path)] = str(error)
            if len(batch) == BATCH:
                self.write(batch, prints)
                batch, prints = [], {}
        self.write(batch, prints)
        return done

    def write(self, diagnoses: Iterable[Diagnosis], prints: Mapping[str, Prints] | None = None) -> None:
        """Keep these runs: their big tables file by file, one new segment of each small table.

        `prints` maps run ids to the fingerprints of their files before they were read; a run without them counts as
        changed. Raises StoreError where another process writes for longer than PATIENCE.
        """
        if not (diagnoses := list({d.run.id: d for d in diagnoses}.values())):
            return
        with self._database() as database:
            database.execute("BEGIN IMMEDIATE")  # the lock of those who write
            self._append(diagnoses)
            for name in SMALL:
                self._compact(name)
            for run_id in (d.run.id for d in diagnoses):
                database.execute("DELETE FROM files WHERE run = ?", [run_id])
                files = [(run_id, path, *mark) for path, mark in (prints or {}).get(run_id, {}).items()]
                database.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)", files)

    def _append(self, diagnoses: Sequence[Diagnosis]) -> None:
        for diagnosis in diagnoses:
            for name in BIG:
                _write(getattr(diagnosis.run, name), self.run_file(name, diagnosis.run.id))
        last = max((_stamp(f) for name in SMALL for f in self._segments(name)), default=0)
        stamp = max(time_ns(), last + 1)  # later than all before it, even where the clock was set back
        for name in SMALL:
            rows = pl.concat([_small(name, d) for d in diagnoses], how="vertical_relaxed")
            if rows.height:
                _write(rows.with_columns(written=pl.lit(stamp)), self.path / name / f"{stamp}.parquet")

    def table(self, name: str) -> pl.LazyFrame:
        """One table over all runs; of a run written twice the newest rows count."""
        if name in BIG:
            files = sorted((self.path / name).rglob("*.parquet"))
            scans = [pl.scan_parquet(f).with_columns(run_id=pl.lit(f.stem)) for f in files]
            return pl.concat(scans) if scans else pl.LazyFrame(schema={**SCHEMAS[name], "run_id": pl.String})
        written = self._written()  # before the table's own files: what is written meanwhile does not count yet
        if not (segments := self._segments(name)):
            return pl.LazyFrame(schema={"run_id": pl.String, **SCHEMAS.get(name, {})})
        return _newest(_scan(segments), written).drop("written")

    def run_file(self, name: str, run_id: str) -> Path:
        """Where a big table of one run lies: no folder is scanned to open it."""
        return self.path / name / run_id[:2] / f"{run_id}.parquet"

    def changed(self, path: Path) -> bool:
        """Whether any file of the run at `path` is new or differs in size, time, inode or head."""
        return _prints(path) != self._remembered(path)

    def _remembered(self, path: Path) -> Prints:
        from loganalyst.sources.assemble import run_id

        with self._database() as database:
            rows = database.execute("SELECT path, size, mtime, inode, head FROM files WHERE run = ?", [run_id(path)])
            return {row[0]: tuple(row[1:]) for row in rows}

    def _segments(self, name: str) -> list[Path]:
        """The segments that count, oldest first: the last compacted one and those after it."""
        files = sorted((self.path / name).glob("*.parquet"), key=lambda f: f.stem)  # 12 < 12-all < 13
        start = max((i for i, f in enumerate(files) if f.stem.endswith(ALL)), default=0)
        return files[start:]

    def _written(self) -> pl.LazyFrame:
        """The stamp that counts for each run."""
        if not (segments := self._segments("runs")):
            return pl.LazyFrame(schema={"run_id": pl.String, "newest": pl.Int64})
        return _scan(segments).group_by("run_id").agg(newest=pl.col("written").max())

    def _compact(self, name: str) -> None:
        """Put many segments into one. They stay for those who read them right now, until the next write."""
        segments = self._segments(name)
        for file in set((self.path / name).glob("*.parquet")).difference(segments):
            file.unlink()
        if len(segments) > SEGMENTS:
            rows = _newest(_scan(segments), self._written()).collect()
            _write(rows, self.path / name / f"{_stamp(segments[-1])}{ALL}.parquet")

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """A connection; what the block does is one transaction. Raises StoreError where the store cannot be used."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self.path / "state.sqlite", timeout=PATIENCE)
            try:
                database.execute("PRAGMA journal_mode = WAL")
                with database:
                    yield database
            finally:
                database.close()
        except (OSError, sqlite3.Error) as error:
            allowed = "a folder that can be written"
            raise StoreError(self.path, f"cannot be used as a store ({error})", allowed) from None


def _scan(segments: Iterable[Path]) -> pl.LazyFrame:
    return pl.concat([pl.scan_parquet(f) for f in segments], how="diagonal_relaxed")


def _stamp(segment: Path) -> int:
    return int(segment.stem.partition("-")[0])


def _newest(rows: pl.LazyFrame, written: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of each run's latest write: what an earlier write said and the latest does not is gone too."""
    return rows.join(written, on="run_id").filter(pl.col("written") == pl.col("newest")).drop("newest")


def _small(name: str, diagnosis: Diagnosis) -> pl.DataFrame:
    run = diagnosis.run
    if name == "runs":
        return pl.DataFrame(_run_row(run))
    if name == "features":
        return pl.DataFrame({"run_id": run.id, **diagnosis.features.values}, infer_schema_length=None)
    if name == "diagnoses":
        return pl.DataFrame(
            {
                "run_id": run.id,
                "status": diagnosis.status,
                "confidence": diagnosis.confidence,
                "json": diagnosis.to_json(indent=None),
                "label": diagnosis.causes[0].label if diagnosis.causes else None,
            },
            schema_overrides={"label": pl.String},
        )
    if name == "feature_sources":
        return _witnesses(diagnosis)
    rows = diagnosis.findings if name == "findings" else getattr(run, name, table(name))
    return rows.select(pl.lit(run.id).alias("run_id"), pl.all())


def _witnesses(diagnosis: Diagnosis) -> pl.DataFrame:
    seen = diagnosis.features.witnesses
    columns = {name: [getattr(w, name) for w in seen.values()] for name in Witness.__dataclass_fields__}
    rows = table("feature_sources", {"feature": list(seen), **columns})
    return rows.select(pl.lit(diagnosis.run.id).alias("run_id"), pl.all())


def _run_row(run: Run) -> Mapping[str, Any]:
    return {
        "run_id": [run.id], "path": [str(run.path)], "name": [run.name], "status": [run.status],
        "formats": [",".join(sorted({s.format for s in run.sources if s.format}))],
        "framework": pl.Series([run.framework], dtype=pl.String), "host": pl.Series([run.host], dtype=pl.String),
        "started": pl.Series([run.started], dtype=Time),
        "ended": pl.Series([run.ended], dtype=Time),
    }  # fmt: skip


def _prints(path: Path) -> Prints:
    """The fingerprints of a run's files by path within it. Raises SourceError, OSError where they cannot be read."""
    from loganalyst.sources.discover import discover

    return {os.path.relpath(f, path): _fingerprint(f) for f in discover(path).files}


def _fingerprint(file: Path) -> tuple[int, int, int, str]:
    stat = file.stat()
    with file.open("rb") as handle:
        head = blake2b(handle.read(HEAD), digest_size=8).hexdigest()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino, head


def _write(rows: pl.DataFrame, file: Path) -> None:
    """Write whole or not at all: a temporary file, synced, then renamed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as handle:
            rows.write_parquet(handle, compression="zstd", compression_level=3, row_group_size=max(rows.height, 1))
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
