"""Contexts and features of runs made of arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from loganalyst import features, signals
from loganalyst.curves import roles
from loganalyst.curves.effective import curves
from loganalyst.curves.trainers import known_roles, recognised
from loganalyst.features.context import Context
from loganalyst.model import Features, Run, Source, table

Rows = Mapping[str, Sequence[float]]


def _context(logged: Rows, config: Mapping[str, Any] | None = None, **run: Any) -> Context:
    frames = [
        table("points", {"session": 0, "metric": m, "step": list(range(len(v))), "value": list(v), "source": "m.csv"})
        for m, v in logged.items()
    ]
    settings = {k: str(v) for k, v in (config or {}).items()}
    numbers = [float(v) if isinstance(v, (int, float)) else None for v in (config or {}).values()]
    read = Run(
        points=pl.concat([table("points"), run.pop("points", table("points")), *frames]),
        config=table("config", {"key": list(settings), "value": list(settings.values()), "number": numbers}),
        sources=(Source("m.csv", "csv", 1),),
        **run,
    )
    trainer, names = recognised(read), read.points["metric"].unique(maintain_order=True)
    found = curves(read, roles.assign(names, known=known_roles(trainer, names)))
    findings, _ = signals.find(found)
    return Context(read, found, findings, trainer)


@pytest.fixture
def context_of() -> Callable[..., Context]:
    """`context_of({"metric": values}, config={"key": value})`: every metric logged at steps 0, 1, 2, …"""
    return _context


@pytest.fixture
def features_of() -> Callable[..., Features]:
    """The features of `context_of(…)`."""
    return lambda *args, **run: features.compute(_context(*args, **run))
