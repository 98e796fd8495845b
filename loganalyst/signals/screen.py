"""A quick look at a curve: is there anything the full pipeline should see? Built to miss little, not to judge."""

import numpy as np

from loganalyst.signals.robust import Array, exponent, spread

BLOCKS = 64
EXTREME = 10.0  # noise units of a single point above or below its block
RISE = 5.0  # noise units the end lies above the best block
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
    noise = spread(np.diff(x[: x.size // 2 * 2 : max(1, x.size // 2000)])) / float(np.sqrt(2)) or 1e-12
    out = max(float(np.max(rows.max(axis=1) - level)), float(np.max(level - rows.min(axis=1))))
    rise = float(np.median(level[-3:])) - float(level.min())
    steps = np.abs(np.diff(level))
    return out > EXTREME * noise or rise > RISE * noise or float(steps[2:].max()) > JUMP * spread(steps) + noise
