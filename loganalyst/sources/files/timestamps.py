"""Seconds since the epoch as table times."""

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from loganalyst.model import Time

YEAR_10000 = 253_402_300_800.0
MAX_LIST_TIMES = 100  # up to here polars reads a list faster than an array


def from_seconds(seconds: ArrayLike) -> pl.Series:
    """Times (µs, UTC) from float seconds since 1970.

    NULL for NaN, for 0 (a field that its writer left unset), and for times outside the years 1970 to 9999.
    """
    values = np.asarray(seconds, np.float64)
    if (found := micros(values)) is not None:
        return pl.Series(found if found.size > MAX_LIST_TIMES else found.tolist(), dtype=pl.Int64).cast(Time)
    known = (values > 0) & (values < YEAR_10000)
    scaled = pl.Series(np.where(known, np.rint(np.where(known, values, 0.0) * 1e6), np.nan), dtype=pl.Float64)
    return scaled.fill_nan(None).cast(pl.Int64).cast(Time)


def micros(seconds: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The times in µs, if there are any and all of them are known; else None."""
    # a NaN makes both comparisons false; for few numbers, methods of arrays cost twice as much
    if seconds.size and np.minimum.reduce(seconds) > 0 and np.maximum.reduce(seconds) < YEAR_10000:
        scaled = seconds * 1e6
        return np.rint(scaled, out=scaled).astype(np.int64)
    return None
