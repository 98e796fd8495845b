"""The change between two stretches of a curve, compared with its standard error over blocks."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals.robuststatistics import TINY, Array, as_floats, lag1, median, spread

MAX_BLOCKS = 200  # means of blocks that stand for a long curve
MAX_PIECES = 4  # straight lines that follow a curve that bends; slower wandering counts as noise
MIN_PIECE_POINTS = 5  # points of a piece that show the scatter about its line
MAX_OUTLIER = 4.0  # robust standard deviations about its middle to which a stretch is clipped
MIN_LEVEL_POINTS = 3  # blocks of a level


class Change(msgspec.Struct, frozen=True):
    """The mean of a late stretch minus the mean of an early one, and the standard error of this difference.

    `error` contains the scatter of single blocks and their autocorrelation. It is above 0, also for a curve without
    scatter.
    """

    early: float
    late: float
    error: float

    @property
    def z(self) -> float:
        """The change in standard errors, at most a billion in size."""
        return float(np.clip((self.late - self.early) / self.error, -1e9, 1e9))


def change(values: ArrayLike, early: tuple[float, float], late: tuple[float, float]) -> Change | None:
    """The change from the stretch `early` to the stretch `late`; both are shares of the curve, such as (0, 0.1).

    Values that are not finite are left out. None below 6 finite values. A long curve becomes at most 200 means of
    blocks, and single outliers are clipped. The error follows from the scatter of the blocks about straight lines
    through the quarters of the curve, and from their autocorrelation. A quarter with a sharp bend does not count.

    >>> import numpy as np
    >>> from loganalyst.signals.standarderror import change
    >>> noise = np.random.default_rng(0).normal(size=400)
    >>> found = change(np.linspace(0, 1, 400) + noise, (0, 0.1), (0.67, 1))
    >>> found.z > 3, change([1.0, 2.0], (0, 0.5), (0.5, 1)) is None
    (True, True)
    """
    x = as_floats(values)
    x = x[np.isfinite(x)]
    if x.size < MIN_LEVEL_POINTS * 2:
        return None
    x = _block_means(np.clip(x, -1e150, 1e150))
    first, last = x[_stretch(x.size, early)], x[_stretch(x.size, late)]
    scatter = max(_scatter(x), TINY * float(np.abs(x).max()), 1e-300)
    error = scatter * float(np.sqrt(1 / first.size + 1 / last.size))
    return Change(_level(first), _level(last), error)


def whole_z(values: ArrayLike) -> float | None:
    """The change from the first tenth to the last third of a curve, in standard errors; None below 6 finite values.

    >>> from loganalyst.signals.standarderror import whole_z
    >>> whole_z([1.0] * 20)
    0.0
    """
    return change_z(values, (0.0, 0.1), (2 / 3, 1.0))


def trend_z(values: ArrayLike) -> float | None:
    """How often a value is above an earlier one, in standard errors of a curve without a trend (Mann 1945; positive: it
    rises); None below 6 finite values.

    The standard error is widened for autocorrelation, as that of a `change`. All values count, so scattered values of
    many episodes show a rise that their first tenth alone does not.

    >>> import numpy as np
    >>> from loganalyst.signals.standarderror import trend_z
    >>> noise = np.random.default_rng(0).normal(size=100)
    >>> trend_z(np.linspace(0, 2, 100) + noise) > 3.5, abs(trend_z(noise)) < 3.5, trend_z([1.0, 2.0])
    (True, True, None)
    """
    x = as_floats(values)
    x = x[np.isfinite(x)]
    if x.size < MIN_LEVEL_POINTS * 2:
        return None
    x = _block_means(np.clip(x, -1e150, 1e150))
    above = float(np.sign(x[None, :] - x[:, None])[np.triu_indices(x.size, 1)].mean())
    error = np.sqrt(2 * (2 * x.size + 5) / (9 * x.size * (x.size - 1)))
    return float(above / error / _widening(_pieces(x)))


def since_z(values: ArrayLike, index: int | None) -> float | None:
    """The change from the twentieth around position `index` to the last tenth, in standard errors; None below 6 finite
    values, or without a position.

    >>> from loganalyst.signals.standarderror import since_z
    >>> since_z([1.0] * 20, 10)
    0.0
    """
    return None if index is None else change_z(values, around(values, index), (0.9, 1.0))


def around(values: ArrayLike, index: int) -> tuple[float, float]:
    """The twentieth of the finite values around position `index`, as shares of the curve.

    >>> from loganalyst.signals.standarderror import around
    >>> around([1.0] * 40, 20)
    (0.475, 0.525)
    """
    finite = np.isfinite(as_floats(values))
    at = float(finite[:index].sum() / max(finite.sum(), 1))
    return max(at - 0.025, 0.0), min(at + 0.025, 1.0)


def change_z(values: ArrayLike, early: tuple[float, float], late: tuple[float, float]) -> float | None:
    """The `change` in standard errors; None below 6 finite values.

    >>> from loganalyst.signals.standarderror import change_z
    >>> change_z([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0], (0, 0.5), (0.5, 1))
    0.0
    """
    found = change(values, early, late)
    return None if found is None else found.z


def _block_means(x: Array) -> Array:
    """The means of at most MAX_BLOCKS equal blocks."""
    if x.size <= MAX_BLOCKS:
        return x
    ends = np.linspace(0, x.size, MAX_BLOCKS + 1).astype(int)
    return as_floats(np.add.reduceat(x, ends[:-1]) / np.diff(ends))


def _scatter(x: Array) -> float:
    """Median over the pieces of the standard deviation about a line, widened for autocorrelation."""
    residuals = _pieces(x)
    return median(np.array([_size(r) for r in residuals])) * _widening(residuals)


def _pieces(x: Array) -> list[Array]:
    """The residuals of each piece about its line."""
    return [
        _residuals(piece) for piece in np.array_split(_clipped(x), min(MAX_PIECES, max(1, x.size // MIN_PIECE_POINTS)))
    ]


def _size(r: Array) -> float:
    return float(np.sqrt(np.dot(r, r) / max(r.size - 2, 1)))


def _widening(residuals: Sequence[Array]) -> float:
    """How many times larger the standard error of a mean is because of autocorrelation."""
    sized = [(r, _size(r)) for r in residuals]
    rho = lag1(np.concatenate([r / size for r, size in sized if size > 0] or [np.empty(0)]))
    return float(np.sqrt((1 + rho) / (1 - rho)))


def _residuals(x: Array) -> Array:
    """Distance from the straight line of least squares; rounding errors are 0."""
    t = np.arange(x.size) - (x.size - 1) / 2
    r = x - x.mean() - t * (np.dot(t, x) / max(float(np.dot(t, t)), 1.0))
    return as_floats(np.where(np.abs(r) > TINY * np.abs(x).max(), r, 0.0))


def _level(x: Array) -> float:
    """The mean without the effect of single outliers."""
    return float(_clipped(x).mean())


def _clipped(x: Array) -> Array:
    middle, limit = median(x), MAX_OUTLIER * spread(x)
    return as_floats(np.clip(x, middle - limit, middle + limit))


def _stretch(count: int, shares: tuple[float, float]) -> slice:
    """The blocks of a stretch: at least MIN_LEVEL_POINTS, from its end that is nearer to an end of the curve."""
    start, stop = round(shares[0] * count), round(shares[1] * count)
    if stop - start >= MIN_LEVEL_POINTS:
        return slice(start, stop)
    middle = (start + stop) / 2
    start = int(np.clip(round(middle - MIN_LEVEL_POINTS / 2), 0, count - MIN_LEVEL_POINTS))
    return slice(start, start + MIN_LEVEL_POINTS)
