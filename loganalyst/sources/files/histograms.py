"""Logged histograms (bucket edges and counts) as rows of the table `distributions`."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.sources.files.timestamps import from_seconds

Array = NDArray[np.float64]

QUANTILES = np.array([0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])
TINY = 1.000001e-12  # the innermost bucket edge of TensorFlow's and PyTorch's histograms: values within are zero


class Moments(NamedTuple):
    """The moments that a writer stored with the buckets."""

    minimum: float
    maximum: float
    number: float
    total: float
    squares: float


def describe(left: Array, right: Array, counts: Array, moments: Moments | None = None) -> dict[str, object]:
    """count, mean, std, min, max, zeros and quantiles of counts (n,) in the buckets left..right (n,).

    Quantiles are interpolated within buckets. Without stored `moments`, mean and std use the middle of each bucket.
    `zeros` is None unless the buckets around 0 are narrow enough to distinguish zeros from other values.
    """
    with np.errstate(all="ignore"):
        if moments:
            left, right = np.clip((left, right), moments.minimum, moments.maximum)
        filled = counts > 0
        left, right, counts = left[filled], right[filled], counts[filled]
        if not len(counts):
            return {"count": moments.number if moments else 0.0}
        m = moments or _moments(left, right, counts)
        mean = m.total / m.number if m.number else math.nan
        return {
            "count": m.number,
            "mean": mean,
            "std": math.sqrt(max(m.squares / m.number - mean * mean, 0.0)) if m.number else math.nan,
            "min": m.minimum,
            "max": m.maximum,
            "zeros": _zeros(left, right, counts),
            "quantiles": [m.minimum, *_quantiles(left, right, counts)[1:-1].tolist(), m.maximum],
        }


def frame(rows: Sequence[Mapping[str, object]], source: str) -> pl.DataFrame:
    """`distributions` rows from results of `describe`, each with metric, step and time (seconds since 1970)."""
    if not rows:  # most batches have none
        return table("distributions")
    names = ("metric", "step", "count", "mean", "std", "min", "max", "zeros", "quantiles")
    columns: dict[str, object] = {name: [row.get(name) for row in rows] for name in names}
    columns["time"] = from_seconds(np.array([row["time"] for row in rows], np.float64))
    return table("distributions", columns | {"session": [0] * len(rows), "source": source})


def _moments(left: Array, right: Array, counts: Array) -> Moments:
    middle = (left + right) / 2
    sums = counts.sum(), (counts * middle).sum(), (counts * middle * middle).sum()
    return Moments(float(left[0]), float(right[-1]), *map(float, sums))


def _quantiles(left: Array, right: Array, counts: Array) -> Array:
    upto = np.cumsum(counts)
    rank = QUANTILES * upto[-1]
    i = np.minimum(np.searchsorted(upto, rank), len(counts) - 1)
    share = (rank - (upto[i] - counts[i])) / counts[i]
    inside: Array = left[i] + share * (right[i] - left[i])
    return inside


def _zeros(left: Array, right: Array, counts: Array) -> float | None:
    narrow = (left >= -TINY) & (right <= TINY)
    if ((left <= 0) & (right >= 0) & ~narrow).any():
        return None
    return float(counts[narrow].sum())
