"""Histories that a script saved with NumPy: `train_loss.npy`, `history.npz`. Nothing is unpickled.

A `.npy` of one dimension is a curve named after its file; of two dimensions, rows as in `numberrows`. In a `.npz` each
array is a curve under its own name; an array named like a counter (`step`, `epoch`) that has as many numbers counts
them. Arrays of another shape are a gap. Source: numpy 2.3, `lib/format.py`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.model.tabletext import printable
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.zips import first_name
from loganalyst.sources.tables import numberrows, stepcolumns
from loganalyst.sources.tables.npyarrays import MAGIC, Floats, arrays
from loganalyst.sources.tables.pointrows import as_points

NAME = "numpy"

_COUNTERS = (*stepcolumns.STEPS, *stepcolumns.EPOCHS)
_SHAPE = re.compile(rb"'shape': \(([\d, ]*)\)")  # of the first array: `'shape': (50,)`
MAX_SHOWN = 3  # arrays that a gap names


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely it is one of these: 0.9 for a `.npy`, or a zip that begins with one, of one or two dimensions."""
    if not head.startswith(MAGIC) and not first_name(head).endswith(".npy"):
        return 0.0
    shape = _SHAPE.search(head[:4096])
    return 0.5 if shape and shape[1].count(b",") > 1 + (not shape[1].strip().endswith(b",")) else 0.9


def read(path: Path) -> Iterator[Tables]:
    """The points of the arrays; arrays that are no curves as one gap. Raises OSError."""
    found: dict[str, Floats] = {}
    lost: list[str] = []
    try:
        for name, array in arrays(path):
            if isinstance(array, str):
                lost.append(f"{printable(name)} {array}".lstrip())
            else:
                found[printable(name)] = array
    except ValueError as error:
        lost.append(printable(error))
    if "" in found:
        yield from _one(path, found.pop(""))
    curves = {name: array for name, array in found.items() if array.ndim == 1 and len(array) >= numberrows.MIN_NUMBERS}
    yield from _named(path, curves)
    lost += [
        f"{name} has shape {array.shape}, which is no curve" for name, array in found.items() if name not in curves
    ]
    if lost:
        more = f"; {len(lost) - MAX_SHOWN} more" if len(lost) > MAX_SHOWN else ""
        yield Tables(gaps=gap(path, f"NumPy: {'; '.join(lost[:MAX_SHOWN])}{more}"))


def _one(path: Path, array: Floats) -> Iterator[Tables]:
    """The points of a `.npy`."""
    rows = numberrows.lists(array.tolist()) if array.ndim in (1, 2) else []
    if rows and len(rows[0]) <= numberrows.MAX_CURVES + len(rows):
        yield from numberrows.tables(path, rows, " ".join(f"{x:g}" for x in rows[0][:4] if x is not None))
    else:
        yield Tables(gaps=gap(path, f"NumPy: an array of shape {array.shape} is no history", 0, path.stat().st_size))


def _named(path: Path, curves: dict[str, Floats]) -> Iterator[Tables]:
    counter = next(iter(stepcolumns.matching(curves, _COUNTERS)), None)
    for name, array in curves.items():
        counted = counter is not None and len(curves[counter]) == len(array)
        if name != counter:
            steps = pl.Series(curves[counter]).cast(pl.Int64, strict=False) if counter and counted else None
            step = pl.int_range(len(array), eager=True) if steps is None else steps
            rows = pl.DataFrame({"step": step, "value": array}).with_columns(metric=pl.lit(name))
            yield Tables(points=as_points(rows, path.name))
