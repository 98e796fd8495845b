"""Stable-Baselines3's `evaluations.npz`: what `EvalCallback` found at each evaluation.

Arrays: `timesteps` (evaluations), `results` and `ep_lengths` (evaluations × episodes), and `successes` where the
environment reports them. An evaluation becomes the mean over its episodes, named as SB3 logs it: `eval/mean_reward`,
`eval/mean_ep_length`, `eval/success_rate`. Nothing is unpickled, and no array is larger than its file may hold.
Source: stable_baselines3 2.7, `common/callbacks.py`, `EvalCallback._on_step`.
"""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.tables.pointrows import as_points

NAME = "sb3evaluations"

_ZIP = b"PK\x03\x04"
_METRICS = {"results": "eval/mean_reward", "ep_lengths": "eval/mean_ep_length", "successes": "eval/success_rate"}
MAX_BYTES = 64 << 20  # of the file, and of one array unpacked


def sniff(path: Path, head: bytes) -> float:
    """How surely the file is one of these: a zip archive whose first member is `timesteps.npy`."""
    return 0.9 if path.suffix == ".npz" and head[:4] == _ZIP and b"timesteps.npy" in head[:100] else 0.0


def read(path: Path) -> Iterator[Tables]:
    """A point for each evaluation and metric; an array that cannot be read is a gap. Raises OSError."""
    if path.stat().st_size > MAX_BYTES:
        yield Tables(gaps=gap(path, f"npz: larger than {MAX_BYTES >> 20} MiB", 0, path.stat().st_size))
        return
    try:
        with zipfile.ZipFile(BytesIO(whole(path))) as archive:  # a damaged place is then no error of the system
            arrays = {name: _array(archive, f"{name}.npy") for name in ("timesteps", *_METRICS)}
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
        yield Tables(gaps=gap(path, f"npz: {str(error)[:200]}", 0, path.stat().st_size))
        return
    steps = arrays.pop("timesteps")
    if steps is None or steps.ndim != 1:
        yield Tables(gaps=gap(path, "npz: no list of `timesteps`", 0, path.stat().st_size))
        return
    for name, values in arrays.items():
        if values is not None and values.ndim in (1, 2) and len(values) == len(steps):
            mean = values.mean(axis=1) if values.ndim == 2 else values
            rows = pl.DataFrame({"step": steps, "value": mean}).with_columns(metric=pl.lit(_METRICS[name]))
            yield Tables(points=as_points(rows, path.name))
        elif values is not None:
            yield Tables(gaps=gap(path, f"npz: {name} has shape {values.shape}, {len(steps)} rows are needed"))


def _array(archive: zipfile.ZipFile, member: str) -> NDArray[np.float64] | None:
    """An array of the archive, None where it holds none of that name. Raises ValueError for what is no plain array."""
    if member not in archive.namelist():
        return None
    if archive.getinfo(member).file_size > MAX_BYTES:
        raise ValueError(f"{member} is larger than {MAX_BYTES >> 20} MiB")
    with archive.open(member) as file:
        found: NDArray[np.float64] = np.lib.format.read_array(file, allow_pickle=False).astype(np.float64)
    return found
