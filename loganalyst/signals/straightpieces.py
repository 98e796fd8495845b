"""The cost of fitting a stretch of a series with one straight piece in AR(1) noise."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.signals.robuststatistics import TINY, Array, quantiles, running_median, spread

OUTLIER_LIMIT = 4.0  # robust sd to which an innovation is clipped
NOISE_FLOOR = 0.005  # share of the range: finer than a reader of a plot can see
PENALTY = (
    2.0  # times log n per parameter: one in twenty series without a change shows one (tests/bench/plain_series.py)
)
Places = NDArray[np.intp]


class Pieces:
    """A series at one autocorrelation; its pieces are levels or lines. The first point of a piece is free, so a jump
    there costs nothing.

    For a given autocorrelation, y(t) − rho·y(t−1) consists of straight pieces in white noise.
    """

    def __init__(self, y: Array, rho: float, *, lines: bool) -> None:
        z = np.append(0.0, y[1:] - rho * y[:-1])
        middle = running_median(z, 5)
        reach = OUTLIER_LIMIT * max(spread(z - middle), TINY)
        z = np.clip(z, middle - reach, middle + reach)
        t = np.arange(y.size) / y.size - 0.5
        sums = np.cumsum([np.ones_like(z), t, t * t, z, z * t, z * z], axis=1)
        self.n, self.lines = y.size, lines
        self._sums = np.concatenate((np.zeros((6, 1)), sums), axis=1)
        finest = max(NOISE_FLOOR * float(np.subtract(*quantiles(y, (0.99, 0.01)))), TINY)
        self._floor = y.size * finest**2 * (1 + rho**2)

    def cost(self, start: Places, stop: Places) -> Array:
        """Residual sums of squares of the pieces from `start` to before `stop` (arrays that broadcast)."""
        one, t, tt, z, zt, zz = self._sums[:, stop] - self._sums[:, np.minimum(start + 1, self.n)]
        one = np.maximum(one, 1.0)
        rest = zz - z * z / one
        if self.lines:
            rest = rest - (zt - z * t / one) ** 2 / np.maximum(tt - t * t / one, 1e-12)
        return np.asarray(np.maximum(rest, 0.0))

    def whole(self, cuts: list[int]) -> float:
        """Residual sum of squares of all pieces between `cuts`."""
        ends = np.array([0, *cuts, self.n])
        return float(np.sum(self.cost(ends[:-1], ends[1:])))

    def misfit(self, squares: float) -> float:
        """−2 log likelihood at the best noise, up to a constant."""
        return self.n * float(np.log((squares + self._floor) / self.n))

    @property
    def price(self) -> float:
        """The gain that justifies a change: it has a place, and its piece a level and perhaps a slope."""
        return PENALTY * (3 if self.lines else 2) * float(np.log(self.n))
