"""A quick look at a curve: does it need the full pipeline? Built to miss little, not to judge."""

import numpy as np

from loganalyst.signals.robuststatistics import Array, exponent, median, spread

MAX_BLOCKS = 64
NOISE_SAMPLE = 2000  # points whose differences show the noise
MIN_OUTLIER = 7.0  # distance above the block and its neighbours, in sd of the difference of two points
MIN_RISE = 3.0  # distance of the end above the best block, in the same unit
MIN_JUMP = 6.0  # difference between blocks, in the same unit


def suspicious(values: Array, sign: int = 1) -> bool:
    """Whether the curve has non-finite values, an outlier, an end above its best, or a jump. Takes linear time."""
    if values.size < 7:
        return not bool(np.isfinite(values).all())
    if not np.isfinite(values).all():
        return True
    x = sign * np.ldexp(values, -exponent(values))
    size = max(1, x.size // MAX_BLOCKS)
    rows = x[: x.size // size * size].reshape(-1, size)
    level = rows.mean(axis=1)
    steps = np.diff(level)
    stride = max(1, x.size // NOISE_SAMPLE)
    noise = max(spread(np.diff(x[: NOISE_SAMPLE * stride : stride])), 1e-12)
    out = rows[1:-1].max(axis=1) - np.maximum(np.maximum(level[:-2], level[1:-1]), level[2:])
    rise = median(level[-3:]) - float(level.min())
    return max(float(out.max()) / MIN_OUTLIER, rise / MIN_RISE, float(steps.max()) / MIN_JUMP - spread(steps)) > noise
