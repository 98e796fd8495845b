"""Segments: files with rows of a small table, named after the stamps of the batches that they hold."""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from loganalyst.store.columns import SEALS, schema

SEGMENT = re.compile(r"\d{1,19}(?:-\d{1,19})?\.parquet")  # 1790000000000000000.parquet


def joined(name: str, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of a table from several frames; columns that a frame lacks are NULL."""
    return pl.concat([pl.DataFrame(schema=schema(name)), *frames], how="diagonal")


def readable(file: Path) -> bool:
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


def holding(stamps: Sequence[int], segments: list[Path]) -> list[Path]:
    """The segments that may hold rows with these stamps."""
    spans = ((file, first(file), last(file)) for file in segments)
    return [file for file, first, last in spans if any(first <= stamp <= last for stamp in stamps)]


def scan_segments(name: str, segments: list[Path]) -> pl.LazyFrame:
    """All rows of some segments, with their stamps."""
    hidden = [(SEALS, pl.String())] if name == "runs" else []
    columns = pl.Schema([*schema(name).items(), *hidden, ("written", pl.Int64())])
    if not segments:
        return pl.LazyFrame(schema=columns)
    return pl.scan_parquet(
        segments, schema=columns, missing_columns="insert", extra_columns="ignore", glob=False, hive_partitioning=False
    )


def counted(rows: pl.LazyFrame, counting: pl.DataFrame) -> pl.LazyFrame:
    """The rows whose stamp counts for their run."""
    found = rows.join(counting.lazy(), on="run_id", maintain_order="left")
    return found.filter(pl.col("written") == pl.col("newest")).drop("newest")
