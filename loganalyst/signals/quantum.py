"""The quantum of a curve: the smallest step between numbers that were rounded to a fixed number of decimals.

A value that was printed as `0.0000` lies below 0.00005; it need not be 0. Numbers that were rounded to d decimals are
all multiples of 10^-d, up to the error of the floats that store them. Numbers in full precision are not.
"""

import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals.robuststatistics import Array, as_floats

MAX_DECIMALS = 6  # decimals tried; `%f` prints so many
MIN_DIGITS = 10.0  # significant digits that must agree with the rounding, over all distinct values, or
MIN_NEIGHBOURS = 3  # distinct values, each one step above the one before: 0.001, 0.002, 0.003
MAX_VALUE = 1e15  # float64 has no decimals beyond it
FIRST_LOOK = 32  # values that reject most curves in full precision
MAX_CHECKED = 20_000  # values that are checked, evenly spaced
MAX_COUNTED = 64  # distinct values whose digits are counted
DOUBLE_ERROR, SINGLE_ERROR = 2.0**-51, 2.0**-23  # relative errors of numbers stored as float64 and as float32
ROUNDING_SD = 12**-0.5  # standard deviation of a rounding error, as a share of the quantum


def quantum(values: ArrayLike) -> float:
    """The step 10^-d of numbers that were rounded to d decimals (1 to 6), the smallest d that fits all.

    0 means not rounded, or not enough significant digits to know. Whole numbers and multiples of a power of 1/2 are
    exact, so they are not rounded. Non-finite values and zeros do not count.

    >>> from loganalyst import signals
    >>> signals.quantum([0.6931, 0.2018, 0.0113, 0.0]), signals.quantum([0.69314718, 0.20181124, 0.0])
    (0.0001, 0.0)
    >>> signals.quantum([500.0, 481.0, 212.0]), signals.quantum([0.0, 0.0, 0.0])
    (0.0, 0.0)
    """
    x = as_floats(values)
    if x.size > MAX_CHECKED:
        x = x[:: -(-x.size // MAX_CHECKED)]
    x = np.abs(x[np.isfinite(x) & (x != 0)])
    if not x.size or float(x.max()) > MAX_VALUE:
        return 0.0
    error = SINGLE_ERROR if np.array_equal(x.astype(np.float32), x) else DOUBLE_ERROR
    first = x[:: -(-x.size // FIRST_LOOK)]
    for decimals in range(MAX_DECIMALS + 1):
        if _are_multiples(first, decimals, error) and _are_multiples(x, decimals, error):
            known = _is_rounding(x, decimals, error) and not _are_binary(x, decimals)
            return 10.0**-decimals if known else 0.0
    return 0.0


def least_ratio(high: float, low: float, step: float) -> float | None:
    """The smallest ratio of two numbers that their rounding to `step` allows, at least 1 where `high` is the larger.

    None where the lower one may be 0 or less.

    >>> from loganalyst.signals.quantum import least_ratio
    >>> least_ratio(0.03, 0.02, 0.01), least_ratio(3.0, 2.0, 0.0), least_ratio(3.0, 0.0, 0.0)
    (1.0, 1.5, None)
    """
    if high > low:
        high, low = max(high - step / 2, low), low + step / 2
        high = max(high, low)
    return high / low if low > 0 and high > 0 else None


def _are_multiples(x: Array, decimals: int, error: float) -> bool:
    """Whether every value is a multiple of 10^-decimals, up to the error of its float. In 64 bits that is the error of
    1 or of the value, because accuracies are subtracted from 1.
    """
    scaled = x * 10.0**decimals
    least = 10.0**decimals if error == DOUBLE_ERROR else 0.0
    multiple = np.rint(scaled)
    return bool(((np.abs(scaled - multiple) <= error * np.maximum(scaled, least)) & (multiple > 0)).all())


def _is_rounding(x: Array, decimals: int, error: float) -> bool:
    """Whether the multiples show a rounding: by their significant digits, or because they leave no step out.

    A value has the digits of its rounded form, such as 3 of 0.0120 at four decimals, but at most those that its float
    can show.
    """
    distinct = np.unique(np.rint(x * 10.0**decimals))[:MAX_COUNTED]
    written = [len(f"{value:.0f}".rstrip("0")) for value in distinct.tolist()]
    shown = -np.log10(np.minimum(2 * error * distinct, 1.0))
    next_to_each_other = distinct.size >= MIN_NEIGHBOURS and bool((np.diff(distinct) == 1).all())
    return next_to_each_other or float(np.minimum(written, shown).sum()) >= MIN_DIGITS


def _are_binary(x: Array, decimals: int) -> bool:
    """Whether every value is a multiple of 2^-decimals, such as 0.25, 0.5 and 1.75, or whole."""
    scaled = x * 2.0**decimals
    return bool((scaled == np.rint(scaled)).all())
