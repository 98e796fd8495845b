"""Recorded runs, written again as tables with other settings, or cut short."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml

import loganalyst as la

RUNS = Path(__file__).parents[2] / "fixtures/runs"


@pytest.fixture(scope="session")
def tables():
    """The metrics of two recorded runs as wide tables, one row a step."""

    def wide(name: str):
        points = la.read_run(RUNS / name).points
        return points.pivot("metric", index="step", values="value", aggregate_function="last").sort("step")

    return {name: wide(name) for name in ("divergence-lr", "healthy-mended-rate")}


@pytest.fixture
def made(tables, tmp_path: Path) -> Callable[..., Path]:
    """Makes a run of a recorded one: `metrics.csv` up to a step, and `config.yaml` with these settings."""

    def make(name: str, recorded: str, until: int = 10**9, **settings: object) -> Path:
        run = tmp_path / "runs" / name
        run.mkdir(parents=True)
        tables[recorded].filter(pl.col("step") <= until).write_csv(run / "metrics.csv")
        (run / "config.yaml").write_text(yaml.safe_dump({"optimizer": "adam", "batch_size": 64, **settings}))
        return run

    return make
