"""Seconds since the epoch as table times."""

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from loganalyst.model import Time

YEAR_10000 = 253_402_300_800.0
FEW = 100  # times that polars takes sooner from a list than from an array


def from_seconds(seconds: ArrayLike) -> pl.Series:
    """Times (µs, UTC) of float seconds since 1970.

    NULL where there is none: NaN, 0 (a field its writer left unset), or outside the years 1970 to 9999.
    """
    values = np.asarray(seconds, np.float64)
    if values.size and values.min() > 0 and values.max() < YEAR_10000:  # never true with a NaN
        scaled = values * 1e6
        found = np.rint(scaled, out=scaled).astype(np.int64)
        return pl.Series(found if found.size > FEW else found.tolist(), dtype=pl.Int64).cast(Time)
    known = (values > 0) & (values < YEAR_10000)
    micros = pl.Series(np.where(known, np.rint(np.where(known, values, 0.0) * 1e6), np.nan), dtype=pl.Float64)
    return micros.fill_nan(None).cast(pl.Int64).cast(Time)
