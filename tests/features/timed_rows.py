"""Rows of a log at given times, and what a diagnosis of them says."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

import loganalyst
from loganalyst.model import Diagnosis, Run, RunStatus, Source, table

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = 400


def logged(
    seconds: np.ndarray,
    metric: str = "train/loss",
    values: np.ndarray | None = None,
    *,
    every: int = 1,
    session: int = 0,
) -> pl.DataFrame:
    """Points at the given times (seconds since BEGIN)."""
    n = len(seconds)
    return table("points", {
        "session": session, "metric": metric, "step": [every * (i + 1) for i in range(n)],
        "time": [BEGIN + timedelta(seconds=float(s)) for s in seconds],
        "value": 2 / np.sqrt(np.arange(n) + 1) if values is None else values, "source": "log.csv",
    })  # fmt: skip


def diagnosed(*points: pl.DataFrame, status: RunStatus = "unknown", **tables: Any) -> Diagnosis:
    return loganalyst.diagnose(
        Run(points=pl.concat(points), sources=(Source("log.csv", "csv", 1),), status=status, **tables)
    )


def values_with(found: Diagnosis, prefix: str) -> dict[str, Any]:
    return {k: v for k, v in found.features.values.items() if k.startswith(prefix) and v is not None}


def causes(found: Diagnosis) -> list[str]:
    return [c.id for c in found.causes]


def clock(pauses: dict[int, float], each: float = 10.0, n: int = STEPS) -> np.ndarray:
    """Times of n rows `each` seconds apart; `pauses` come before the rows of these steps on top."""
    seconds = np.full(n, each)
    for step, pause in pauses.items():
        seconds[step - 1] += pause
    return np.cumsum(seconds)
