"""Parquet: a step column, one column a metric."""

from collections.abc import Callable
from pathlib import Path

from formats.case import Case, Columns, Take, values


def write(folder: Path, rows: int, metrics: int) -> Path:
    import polars as pl

    path = folder / "history.parquet"
    names = list(values(0, metrics))
    logged = pl.DataFrame([list(values(step, metrics).values()) for step in range(rows)], schema=names, orient="row")
    logged.insert_column(0, pl.int_range(rows, eager=True).alias("_step")).write_parquet(path)
    return path


def polars_long() -> Take:
    """The file read whole, one row a number."""
    import polars as pl

    def take(path: Path) -> Callable[[], Columns]:
        long = pl.read_parquet(path).unpivot(index="_step").drop_nulls()
        return lambda: (long["variable"], long["_step"], long["value"])

    return take


def grow(seed: Path, path: Path, size: int) -> None:
    """Write rows of noise in row groups of the writer's usual size."""
    import numpy as np
    import polars as pl

    names = [name for name in pl.read_parquet_schema(seed) if name != "_step"]
    rows, chance = size // (8 * len(names)) + 1, np.random.default_rng(0)
    noise = {name: chance.random(rows) for name in names}
    pl.DataFrame({"_step": np.arange(rows), **noise}).write_parquet(path)


CASES = (Case("parquet", write, (polars_long,), (1_000_000, 5), grow=grow),)
