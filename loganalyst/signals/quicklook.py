"""A quick look at a curve: is there anything the full pipeline should see? Built to miss little, not to judge."""

import numpy as np

from loganalyst.signals.robuststatistics import Array, exponent, median, spread

BLOCKS = 64
SAMPLE = 2000  # points whose differences tell the noise
EXTREME = 7.0  # sd of a difference of two points that one lies above its block and its neighbours
RISE = 3.0  # the same for the end above the best block
JUMP = 6.0  # robust sd of the differences between blocks


def suspicious(values: Array, sign: int = 1) -> bool:
    """Whether the curve has non-finite values, an outlier, an end above its best, or a jump; linear time."""
    if values.size < 7:
        return not bool(np.isfinite(values).all())
    if not np.isfinite(values).all():
        return True
    x = sign * np.ldexp(values, -exponent(values))
    size = max(1, x.size // BLOCKS)
    rows = x[: x.size // size * size].reshape(-1, size)
    level = rows.mean(axis=1)
    steps = np.diff(level)
    noise = max(spread(np.diff(x[: SAMPLE * max(1, x.size // SAMPLE) : max(1, x.size // SAMPLE)])), 1e-12)
    out = rows[1:-1].max(axis=1) - np.maximum(np.maximum(level[:-2], level[1:-1]), level[2:])
    rise = median(level[-3:]) - float(level.min())
    return max(float(out.max()) / EXTREME, rise / RISE, float(steps.max()) / JUMP - spread(steps)) > noise
