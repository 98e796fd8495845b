"""A run as rows of the small tables that say what was read, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, Run, Source
from loganalyst.sources.part import BIG
from loganalyst.store.judged import of_run
from loganalyst.store.tables import READ, Folder, schema

TOLD = ("name", "status", "framework", "host", "started", "ended", "job")
LISTS = ("basis", "suggested", "ignored")


def rows(run: Run, heights: Mapping[str, int]) -> Mapping[str, pl.DataFrame]:
    """The run as one frame of each small table that was read; `heights` are the rows of its big ones."""
    told = {name: getattr(run, name) for name in TOLD}
    formats = ",".join(sorted({s.format for s in run.sources if s.format}))
    many = {name: list(getattr(run, name)) for name in LISTS}
    one = {"run_id": run.id, "path": str(run.path), "formats": formats, **told, **many, **heights}
    return {
        **{name: of_run(run.id, getattr(run, name)) for name in READ if name in SCHEMAS},
        "sources": pl.DataFrame([{"run_id": run.id, **asdict(s)} for s in run.sources], schema=schema("sources")),
        "runs": pl.DataFrame([one], schema=schema("runs")),
    }


def load(folder: Folder, run_ids: list[str]) -> list[Run]:
    """The runs of these ids, as a fresh reading would give them; ids the store does not have are left out."""
    counting = folder.counting("runs").filter(pl.col("run_id").is_in(run_ids))
    small = {name: _by_run(rows) for name, rows in folder.rows(READ, counting).items()}
    return [_run(folder, run_id, small) for run_id in run_ids if run_id in small.get("runs", {})]


def _by_run(found: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(key[0]): rows for key, rows in found.partition_by("run_id", as_dict=True, include_key=False).items()}


def _run(folder: Folder, run_id: str, small: Mapping[str, Mapping[str, pl.DataFrame]]) -> Run:
    row = small["runs"][run_id].row(0, named=True)
    files = small["sources"][run_id].to_dicts() if run_id in small.get("sources", {}) else []
    tables: dict[str, Any] = {n: rows[run_id] for n, rows in small.items() if n in SCHEMAS and run_id in rows}
    tables |= {n: big(folder.run_file(n, run_id), n) for n in BIG if row[n]}
    told: dict[str, Any] = {**{name: row[name] for name in TOLD}, **{name: tuple(row[name]) for name in LISTS}}
    return Run(
        **tables,
        **told,
        id=run_id,
        path=Path(row["path"]),
        sources=tuple(Source(**file) for file in files),
    )


def big(file: Path, name: str) -> pl.DataFrame:
    """One big table of one run."""
    return pl.read_parquet(file, hive_partitioning=False).cast(SCHEMAS[name])
