"""Sweeps with a known truth, as settings and objectives; and small trees of runs on disk."""

import csv
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from loganalyst.comparing.settingspace import Space, space
from loganalyst.features import declared


def config(runs: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """The table `config` of runs with these settings."""
    rows = [
        {"run_id": run, "key": key, "value": str(value), "number": None if isinstance(value, str) else float(value)}
        for run, settings in runs.items()
        for key, value in settings.items()
    ]
    return pl.DataFrame(rows, schema={"run_id": pl.String, "key": pl.String, "value": pl.String, "number": pl.Float64})


def spaced(columns: Mapping[str, Any]) -> Space:
    """The space of runs r0, r1 … with these columns of settings."""
    n = len(next(iter(columns.values())))
    runs = {f"r{i}": {k: v[i] if isinstance(v[i], str) else float(v[i]) for k, v in columns.items()} for i in range(n)}
    return space(list(runs), config(runs))


def searched(seed: int, n: int, noise: float = 0.1) -> tuple[Space, np.ndarray]:
    """A random search: a valley over the rate (most), an optimiser, a rate that depends on the batch, two nulls."""
    rng = np.random.default_rng(seed)
    lr, decay = 10 ** rng.uniform(-5, -1, n), 10 ** rng.uniform(-6, -1, n)
    optimizer, batch = rng.choice(["adam", "sgd", "lion"], n), rng.choice([32, 64, 128, 256], n)
    at = np.log10(lr) + 3
    loss = 0.3 * at**2 + 0.6 * (optimizer == "sgd") + 0.25 * at * (np.log2(batch) - 6.5) / 1.5
    settings = {
        "lr": lr,
        "weight_decay": decay,
        "optimizer": optimizer,
        "batch_size": batch,
        "null": rng.uniform(0, 1, n),
    }
    return spaced(settings), 1 + loss + noise * rng.standard_normal(n)


def write(run: Path, level: float, seed: int = 0, *, diverges: bool = False, **settings: Any) -> None:
    """A run whose losses fall to a level: `metrics.csv` and `config.yaml`."""
    run.mkdir(parents=True)
    (run / "config.yaml").write_text(yaml.safe_dump({"seed": seed, **settings}))
    noise = random.Random(f"{run.parent.name}/{run.name}")
    level += noise.gauss(0, 0.01)
    with (run / "metrics.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["step", "train/loss", "val/loss"])
        for i in range(1, 121):
            train = level + 2 * math.exp(-i / 20) + noise.gauss(0, 0.01)
            worse = math.exp((i - 60) / 8) if diverges and i > 60 else 0.0
            rows.writerow([10 * i, train + worse, train + worse + 0.05])


DTYPES = {"float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean, "text": pl.String}


def features(**columns):
    """A table of features in which only these columns are known."""
    n = len(next(iter(columns.values())))
    known = {name: columns.get(name, [None] * n) for name in declared()}
    return pl.DataFrame(known, schema={name: DTYPES[f.dtype] for name, f in declared().items()})
