"""Stable-Baselines3's `evaluations.npz`: what `EvalCallback` found at each evaluation.

Arrays: `timesteps` (evaluations), `results` and `ep_lengths` (evaluations × episodes), and `successes` where the
environment reports them. An evaluation becomes the mean over its episodes, named as SB3 logs it: `eval/mean_reward`,
`eval/mean_ep_length`, `eval/success_rate`. Nothing is unpickled, and no array is larger than its file may hold.
Source: stable_baselines3 2.7, `common/callbacks.py`, `EvalCallback._on_step`.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.zips import first_name
from loganalyst.sources.tables.npyarrays import arrays
from loganalyst.sources.tables.pointrows import as_points

NAME = "sb3evaluations"

_METRICS = {"results": "eval/mean_reward", "ep_lengths": "eval/mean_ep_length", "successes": "eval/success_rate"}


def sniff(path: Path, head: bytes) -> float:
    """How surely the file is one of these: a zip archive whose first member is `timesteps.npy`."""
    return 0.95 if path.suffix == ".npz" and first_name(head) == "timesteps.npy" else 0.0


def read(path: Path) -> Iterator[Tables]:
    """A point for each evaluation and metric; an array that cannot be read is a gap. Raises OSError."""
    try:
        found = {name: array for name, array in arrays(path) if name in ("timesteps", *_METRICS)}
    except ValueError as error:
        yield Tables(gaps=gap(path, f"npz: {str(error)[:200]}", 0, path.stat().st_size))
        return
    steps = found.pop("timesteps", None)
    if steps is None or isinstance(steps, str) or steps.ndim != 1:
        yield Tables(gaps=gap(path, "npz: no list of `timesteps`", 0, path.stat().st_size))
        return
    for name, values in found.items():
        if isinstance(values, str):
            yield Tables(gaps=gap(path, f"npz: {name} {values}"))
        elif values.ndim in (1, 2) and len(values) == len(steps):
            mean = values.mean(axis=1) if values.ndim == 2 else values
            rows = pl.DataFrame({"step": steps, "value": mean}).with_columns(metric=pl.lit(_METRICS[name]))
            yield Tables(points=as_points(rows, path.name))
        else:
            yield Tables(gaps=gap(path, f"npz: {name} has shape {values.shape}, {len(steps)} rows are needed"))
