"""A cache of what was read and found: Parquet files any tool can open, and fingerprints that say what is unchanged.

Big tables are one Parquet file a run, at a path made of the run id. Small tables are append-only segments, one a batch:
the newest rows of a run win. Everything here can be deleted and is made again from the runs.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from time import time_ns
from typing import Any

import polars as pl

from loganalyst.errors import LogAnalystError, StoreError
from loganalyst.model import SCHEMAS, Diagnosis, Run, Witness, table

BIG = ("points", "distributions", "lines")
SMALL = (
    "runs",
    "features",
    "feature_sources",
    "findings",
    "diagnoses",
    "config",
    "jobs",
    "checkpoints",
    "gaps",
    "sessions",
)
SEGMENTS = 32  # more than this many segments of a table are compacted into one
HEAD = 1 << 12

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
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with self._database() as database:
                database.execute(_SCHEMA)
        except (OSError, sqlite3.DatabaseError) as error:
            raise StoreError(
                self.path, f"cannot be used as a store ({error})", "a folder that can be written"
            ) from None

    def __getattr__(self, name: str) -> pl.LazyFrame:
        if name in BIG or name in SMALL:
            return self.table(name)
        raise AttributeError(f"a store has no table {name!r}; it has {', '.join((*BIG, *SMALL))}")

    def ingest(self, paths: Iterable[str | Path]) -> dict[str, str]:
        """Read and diagnose every run of `paths` that changed; path -> "new", "unchanged" or why it was not read."""
        from loganalyst import pipeline

        done: dict[str, str] = {}
        diagnoses: list[Diagnosis] = []
        for path in paths:
            try:
                if not self.changed(Path(path)):
                    done[str(path)] = "unchanged"
                    continue
                diagnoses.append(pipeline.diagnose(path))
                done[str(path)] = "new"
            except LogAnalystError as error:
                done[str(path)] = str(error)
        self.write(diagnoses)
        return done

    def write(self, diagnoses: Iterable[Diagnosis]) -> None:
        """Keep these runs: their big tables file by file, one new segment of each small table."""
        diagnoses = list(diagnoses)
        for diagnosis in diagnoses:
            for name in BIG:
                _write(getattr(diagnosis.run, name), self.run_file(name, diagnosis.run.id))
        for name in SMALL if diagnoses else ():
            rows = pl.concat([_small(name, d) for d in diagnoses], how="vertical_relaxed")
            stamp = time_ns()
            if rows.height:
                _write(rows.with_columns(written=pl.lit(stamp)), self.path / name / f"{stamp}-{os.getpid()}.parquet")
            self._compact(name)
        self._remember([d.run for d in diagnoses])

    def table(self, name: str) -> pl.LazyFrame:
        """One table over all runs; of a run written twice the newest rows count."""
        files = sorted((self.path / name).rglob("*.parquet"))
        if name in BIG:
            scans = [pl.scan_parquet(f).with_columns(run_id=pl.lit(f.stem)) for f in files]
            return pl.concat(scans) if scans else pl.LazyFrame(schema={**SCHEMAS[name], "run_id": pl.String})
        if not files:
            return pl.LazyFrame(schema={"run_id": pl.String, **SCHEMAS.get(name, {})})
        return _newest(pl.concat([pl.scan_parquet(f) for f in files], how="diagonal_relaxed"), self._written()).drop(
            "written"
        )

    def run_file(self, name: str, run_id: str) -> Path:
        """Where a big table of one run lies: no folder is scanned to open it."""
        return self.path / name / run_id[:2] / f"{run_id}.parquet"

    def changed(self, path: Path) -> bool:
        """Whether any file of the run at `path` is new or differs in size, time, inode or head."""
        from loganalyst.sources.discover import discover
        from loganalyst.sources.ingest import run_id

        now = {str(f): _fingerprint(f) for f in discover(path).files}
        with self._database() as database:
            rows = database.execute("SELECT path, size, mtime, inode, head FROM files WHERE run = ?", [run_id(path)])
            return now != {row[0]: tuple(row[1:]) for row in rows}

    def _remember(self, runs: Iterable[Run]) -> None:
        with self._database() as database:
            for run in runs:
                root = run.path if run.path.is_dir() else run.path.parent
                files = [root / s.path for s in run.sources]
                database.execute("DELETE FROM files WHERE run = ?", [run.id])
                rows = [(run.id, str(f), *_fingerprint(f)) for f in files if f.exists()]
                database.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _written(self) -> pl.LazyFrame:
        """The time of the newest segment each run is in: every write has a row in `runs`."""
        files = sorted((self.path / "runs").glob("*.parquet"))
        return pl.concat([pl.scan_parquet(f) for f in files]).group_by("run_id").agg(newest=pl.col("written").max())

    def _compact(self, name: str) -> None:
        files = sorted((self.path / name).glob("*.parquet"))
        if len(files) <= SEGMENTS:
            return
        rows = pl.concat([pl.read_parquet(f) for f in files], how="diagonal_relaxed").lazy()
        _write(_newest(rows, self._written()).collect(), self.path / name / f"{time_ns()}-{os.getpid()}.parquet")
        for file in files:
            file.unlink()

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self.path / "state.sqlite", timeout=30)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            with database:
                yield database
        finally:
            database.close()


def _newest(rows: pl.LazyFrame, written: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of each run's latest write: what an earlier write said and the latest does not is gone too."""
    return rows.join(written, on="run_id", how="left").filter(pl.col("written") >= pl.col("newest")).drop("newest")


def _small(name: str, diagnosis: Diagnosis) -> pl.DataFrame:
    run = diagnosis.run
    if name == "runs":
        return pl.DataFrame(_run_row(run))
    if name == "features":
        return pl.DataFrame({"run_id": run.id, **diagnosis.features.values}, infer_schema_length=None)
    if name == "diagnoses":
        found = json.loads(diagnosis.to_json(indent=None))
        row = {
            "run_id": run.id,
            "status": diagnosis.status,
            "confidence": diagnosis.confidence,
            "json": json.dumps(found),
        }
        return pl.DataFrame(
            {**row, "label": diagnosis.causes[0].label if diagnosis.causes else None},
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
        "started": pl.Series([run.started], dtype=pl.Datetime("us", "UTC")),
        "ended": pl.Series([run.ended], dtype=pl.Datetime("us", "UTC")),
    }  # fmt: skip


def _fingerprint(file: Path) -> tuple[int, int, int, str]:
    stat = file.stat()
    with file.open("rb") as handle:
        head = blake2b(handle.read(HEAD), digest_size=8).hexdigest()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino, head


def _write(rows: pl.DataFrame, file: Path) -> None:
    """Write whole or not at all: a temporary file, synced, then renamed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    with temporary.open("wb") as handle:
        rows.write_parquet(handle, compression="zstd", compression_level=3, row_group_size=max(rows.height, 1))
        handle.flush()
        os.fsync(handle.fileno())
    temporary.replace(file)
