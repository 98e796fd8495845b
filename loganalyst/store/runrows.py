"""Runs as rows of the store's small tables, and back."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, Run, Source, constant
from loganalyst.sources.assemble import with_big
from loganalyst.sources.files.rowspool import slices
from loganalyst.sources.files.thinning import LIMITS
from loganalyst.sources.filetables import BIG, changed
from loganalyst.store import damage
from loganalyst.store.columns import SEALS
from loganalyst.store.ledger import HEALING, DamagedError
from loganalyst.store.tablefiles import READ, Folder, schema

FIELDS = ("name", "status", "framework", "host", "started", "ended", "job")
LISTS = ("basis", "suggested", "ignored", "settings_ignored")
ADDED_LATER = {"settings": "", "settings_inside": False}  # NULL in the first stores


def rows(run: Run, heights: Mapping[str, int]) -> Mapping[str, pl.DataFrame]:
    """The run as one frame for each small table of a reading; `heights` are the row counts of its big tables."""
    fields = {name: getattr(run, name) for name in FIELDS}
    formats = ",".join(sorted({s.format for s in run.sources if s.format}))
    many: dict[str, Any] = {name: list(getattr(run, name)) for name in LISTS}
    many |= {name: getattr(run, name) for name in ADDED_LATER}
    one = {"run_id": run.id, "path": str(run.path), "formats": formats, **fields, **many, **heights}
    return {
        **{name: of_run(run.id, getattr(run, name)) for name in READ if name in SCHEMAS},
        "sources": pl.DataFrame([{"run_id": run.id, **asdict(s)} for s in run.sources], schema=schema("sources")),
        "runs": pl.DataFrame([one], schema=schema("runs")),
    }


Small = Mapping[str, pl.DataFrame]  # the rows of one run in the small tables, by table


def load(folder: Folder, run_ids: list[str]) -> list[Run]:
    """The runs of these ids, as a fresh reading would give them; unknown ids are left out."""
    return [whole(folder, run_id, rows) for run_id, rows in small(folder, run_ids).items()]


def small(folder: Folder, run_ids: list[str]) -> dict[str, Small]:
    """The rows of runs in the small tables, by id in the order of `run_ids`; unknown ids are left out.

    Raises DamagedError where rows of one of them are missing.
    """
    if runs := damage.affected(folder, READ) & set(run_ids):
        raise DamagedError(folder.path, f"rows are missing, {damage.named(folder, runs)}", HEALING)
    counting = folder.counting("runs").filter(pl.col("run_id").is_in(run_ids))
    tables = {name: _by_run(rows) for name, rows in folder.rows(READ, counting).items()}
    known = [run_id for run_id in run_ids if run_id in tables.get("runs", {})]
    return {id_: {name: rows[id_] for name, rows in tables.items() if id_ in rows} for id_ in known}


def _by_run(found: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(key[0]): rows for key, rows in found.partition_by("run_id", as_dict=True, include_key=False).items()}


def whole(folder: Folder, run_id: str, rows: Small) -> Run:
    """The run of these rows (from `small`), with its big tables. Raises DamagedError where one of them is damaged."""
    row = rows["runs"].row(0, named=True)
    for name in BIG:
        if row[name] and (why := folder.unsound(name, run_id, row[SEALS])):
            raise damage.lost(folder.run_file(name, run_id), why, [row["path"]])
    files = rows["sources"].to_dicts() if "sources" in rows else []
    tables: dict[str, Any] = {name: frame for name, frame in rows.items() if name in SCHEMAS}
    fields: dict[str, Any] = {
        **{name: row[name] for name in FIELDS},
        **{name: tuple(row[name] or ()) for name in LISTS},
    }
    fields |= {name: row[name] or default for name, default in ADDED_LATER.items()}
    run = Run(
        **tables,
        **fields,
        id=run_id,
        path=Path(row["path"]),
        sources=tuple(Source(**file) for file in files),
    )
    heights = {name: row[name] or 0 for name in BIG}
    return with_big(run, heights, lambda name: _pieces(folder.run_file(name, run_id), name, heights[name]))


def _pieces(file: Path, name: str, height: int) -> Iterable[pl.DataFrame]:
    """A big table of one run in pieces; as one frame if it is judged whole."""
    return (
        [big(file, name)]
        if height <= LIMITS.get(name, height)
        else (_typed(piece, name) for piece in slices(file, 0, height))
    )


def big(file: Path, name: str) -> pl.DataFrame:
    """One big table of one run."""
    return _typed(pl.read_parquet(file, hive_partitioning=False), name)


def _typed(found: pl.DataFrame, name: str) -> pl.DataFrame:
    return changed(found, [column.cast(SCHEMAS[name][column.name]) for column in found.get_columns()])


def of_run(run_id: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the run's id as their first column."""
    return rows.clone().insert_column(0, constant(run_id, rows.height, pl.String).alias("run_id"))
