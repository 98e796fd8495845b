"""Histories that a script saved with NumPy: `train_loss.npy`, `history.npz`. Nothing is unpickled.

A `.npy` of one dimension is a curve named after its file; of two dimensions, rows as in `numberrows`. In a `.npz` each
array is a curve under its own name, or the file's where only that says what was measured. An array named like a counter
(`step`, `epoch`) that has as many numbers counts them. One or two numbers are a curve where the name is that of a
metric, as for a last test. Arrays of another shape are a gap. Source: numpy 2.3, `lib/format.py`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst import filemeasure
from loganalyst.model import Tables
from loganalyst.model.tabletext import printable
from loganalyst.sources.discovery.filenames import Kind, kind
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.zips import first_name
from loganalyst.sources.tables import numberrows, stepcolumns, unnamed
from loganalyst.sources.tables.npyarrays import MAGIC, Floats, arrays
from loganalyst.sources.tables.pointrows import as_points

NAME = "numpy"

_SHAPE = re.compile(rb"'shape': \(([\d, ]*)\)")  # of the first array: `'shape': (50,)`
_BY_NUMPY = re.compile(r"arr_\d{1,9}")  # `arr_0`: how NumPy names an array without a name
MAX_SHOWN = 3  # arrays that a gap names


def sniff(path: Path, head: bytes) -> float:
    """How surely it is one of these: 0.9 for a `.npy`, or a zip that begins with one, of one or two dimensions, if a
    name is that of a history or a measure. Others may be weights or data: 0.55.
    """
    first = first_name(head)
    if not head.startswith(MAGIC) and not first.endswith(".npy"):
        return 0.0
    shape = _SHAPE.search(head[:4096])
    if shape and shape[1].count(b",") > 1 + (not shape[1].strip().endswith(b",")):
        return 0.5
    measured = any(map(filemeasure.says_measure, (path.stem, first.removesuffix(".npy"))))
    return 0.9 if measured or kind(path.name) is not Kind.NOTHING else 0.55


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
    curves = {name: np.atleast_1d(array) for name, array in found.items() if _is_curve(name, array)}
    yield from _named(path, curves)
    lost += [
        f"{name} has shape {array.shape}, which is no curve" for name, array in found.items() if name not in curves
    ]
    if lost:
        more = f"; {len(lost) - MAX_SHOWN} more" if len(lost) > MAX_SHOWN else ""
        yield Tables(gaps=gap(path, f"NumPy: {'; '.join(lost[:MAX_SHOWN])}{more}"))


def _is_curve(name: str, array: Floats) -> bool:
    """Whether the numbers stand in one row, and are enough, or few below the name of a metric."""
    least = 1 if filemeasure.is_metric(name) else numberrows.MIN_NUMBERS
    return array.ndim <= 1 and array.size >= least


def _one(path: Path, array: Floats) -> Iterator[Tables]:
    """The points of a `.npy`."""
    metric = unnamed.metric_of(path)
    if _is_curve(metric, array):
        yield from _named(path, {metric: np.atleast_1d(array)})
        return
    rows = numberrows.lists(array.tolist()) if array.ndim == 2 else []
    if rows and numberrows.width(rows) <= numberrows.MAX_CURVES:
        yield from numberrows.tables(path, rows, " ".join(f"{x:g}" for x in rows[0][:4] if x is not None))
    else:
        yield Tables(gaps=gap(path, f"NumPy: an array of shape {array.shape} is no history", 0, path.stat().st_size))


def _by_file(names: Sequence[str], path: Path) -> list[str]:
    """The names of curves, with what only the name of the file says: all of it for a single curve.

    >>> _by_file(["arr_0"], Path("episode_rewards.npz")), _by_file(["train", "val"], Path("losses.npz"))
    (['episode_rewards'], ['train/losses', 'val/losses'])
    """
    metric = unnamed.metric_of(path)
    names = filemeasure.named(names, path)
    plain = len(names) == 1 and not filemeasure.says_measure(names[0])
    by_numpy = plain and bool(_BY_NUMPY.fullmatch(names[0])) and filemeasure.says_measure(metric)
    return [metric] if by_numpy or (plain and filemeasure.is_metric(metric)) else names


def _named(path: Path, found: dict[str, Floats]) -> Iterator[Tables]:
    counter = next(iter(stepcolumns.matching(found, stepcolumns.COUNTERS)), None)
    others = [name for name in found if name != counter]
    names = dict(zip(others, _by_file(others, path), strict=True))
    curves = {names.get(name, name): array for name, array in found.items()}
    for name, array in curves.items():
        counted = counter is not None and len(curves[counter]) == len(array)
        if name != counter:
            steps = pl.Series(curves[counter]).cast(pl.Int64, strict=False) if counter and counted else None
            step = pl.int_range(len(array), eager=True) if steps is None else steps
            rows = pl.DataFrame({"step": step, "value": array}).with_columns(metric=pl.lit(name))
            yield Tables(points=as_points(rows, path.name))
