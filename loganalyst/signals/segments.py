"""A short series of any kind as a few straight pieces: the exact optimum of a penalised likelihood.

Each piece is a level or a line plus AR(1) noise (Chakar, Lebarbier, Lévy-Leduc, Robin, Bernoulli 23, 2017). The form of
the pieces, their number and the autocorrelation minimise the Bayesian information criterion, by dynamic programming. A
season is removed first. A smooth decay competes as a form of its own, because it bends everywhere and changes nowhere.
"""

import msgspec
import numpy as np

from loganalyst.signals.robuststatistics import Array
from loganalyst.signals.seasonalpart import season
from loganalyst.signals.straightpieces import PENALTY, Pieces, Places

AUTOCORRELATIONS = (0.0, 0.4, 0.7, 0.9, 0.97, 1.0)  # the values tried
MAX_GRID = 150  # places where pieces may begin, refined to single points afterwards
MAX_CHANGES = 8
MIN_SERIES_POINTS = 20
MIN_PIECE_POINTS = 6  # points of a piece, and
MIN_PIECE_SHARE = 0.03  # share of the series
DECAY_TIMES = tuple(0.03 * 1.4**k for k in range(11))  # time constants of a decay, as shares of the series


class Cut(msgspec.Struct, frozen=True):
    """A change at the first point of a new piece, and its gain in likelihood relative to the price of a change."""

    index: int
    gain: float


class _Fit(msgspec.Struct, frozen=True):
    pieces: Pieces
    cuts: list[int]
    criterion: float


def segments(y: Array) -> list[Cut]:
    """The changes of a series of up to about 1,000 points; none below 20 points."""
    if y.size < MIN_SERIES_POINTS or float(np.ptp(y)) == 0:
        return []
    y = (y - y.mean()) / float(np.ptp(y))
    y = y - season(y)
    decay_price = 2 * PENALTY * float(np.log(y.size))  # the criterion's price of the amplitude and the time constant
    fits = [
        _best(Pieces(x, rho, lines=lines), price)
        for x, price in ((y, 0.0), (y - _best_decay(y), decay_price))
        for rho in AUTOCORRELATIONS
        for lines in (False, True)
    ]
    best = min(fits, key=lambda f: f.criterion)
    return [Cut(at, _gain(best, at)) for at in best.cuts]


def slows_down(y: Array) -> bool:
    """Whether the first half falls and slows down as a learning curve does, rather than along a line."""
    half = y[: y.size // 2]
    if half.size < MIN_SERIES_POINTS or float(np.ptp(half)) == 0:
        return False
    half = (half - half.mean()) / float(np.ptp(half))
    slow = _best_decay(half)
    line, curve = (min(_one_line_misfit(x, rho) for rho in AUTOCORRELATIONS) for x in (half, half - slow))
    return bool(slow[0] > slow[-1] and line - curve > 2 * PENALTY * float(np.log(half.size)))


def _one_line_misfit(y: Array, rho: float) -> float:
    pieces = Pieces(y, rho, lines=True)
    return pieces.misfit(pieces.whole([]))


def _best(pieces: Pieces, price: float) -> _Fit:
    """The exact optimum over all numbers of changes and their places on the grid, refined to single points."""
    grid = np.unique(np.linspace(0, pieces.n, min(MAX_GRID, pieces.n) + 1).astype(np.intp))
    least = max(MIN_PIECE_POINTS, round(MIN_PIECE_SHARE * pieces.n))
    start, stop = grid[:, None], grid[None, :]
    cost = np.where(stop - start >= least, pieces.cost(start, stop), np.inf)
    price += pieces.price - PENALTY * float(np.log(pieces.n))  # the place of the first piece is fixed
    best, came = cost[0], []
    fit = _Fit(pieces, [], pieces.misfit(float(best[-1])) + price)
    for changes in range(1, MAX_CHANGES + 1):
        total = best[:, None] + cost
        came.append(np.argmin(total, axis=0))
        best = total[came[-1], np.arange(grid.size)]
        criterion = pieces.misfit(float(best[-1])) + price + changes * pieces.price
        if criterion < fit.criterion:
            fit = _Fit(pieces, _backtracked(grid, came), criterion)
    return _refined(fit, least, -(-pieces.n // MAX_GRID))


def _backtracked(grid: Places, came: list[Places]) -> list[int]:
    cuts, at = [], grid.size - 1
    for back in reversed(came):
        at = int(back[at])
        cuts.append(int(grid[at]))
    return cuts[::-1]


def _refined(fit: _Fit, least: int, step: int) -> _Fit:
    """Each cut moved to its best point between two places of the grid, with the others fixed."""
    cuts, cost = [0, *fit.cuts, fit.pieces.n], fit.pieces.cost
    before = fit.pieces.whole(fit.cuts)
    for k in range(1, len(cuts) - 1):
        at = np.arange(max(cuts[k - 1] + least, cuts[k] - step), min(cuts[k + 1] - least, cuts[k] + step) + 1)
        left, right = np.full_like(at, cuts[k - 1]), np.full_like(at, cuts[k + 1])
        cuts[k] = int(at[np.argmin(cost(left, at) + cost(at, right))])
    after = fit.pieces.whole(cuts[1:-1])
    return _Fit(fit.pieces, cuts[1:-1], fit.criterion + fit.pieces.misfit(after) - fit.pieces.misfit(before))


def _gain(fit: _Fit, at: int) -> float:
    without = fit.pieces.misfit(fit.pieces.whole([c for c in fit.cuts if c != at]))
    return (without - fit.pieces.misfit(fit.pieces.whole(fit.cuts))) / fit.pieces.price


def _best_decay(y: Array) -> Array:
    """The exponential or power law with an offset that fits best."""
    t = np.arange(y.size) / y.size
    shapes = np.array(
        [f for tau in DECAY_TIMES for f in (np.exp(-t / tau), (1 + t / tau) ** -0.5, (1 + t / tau) ** -1.0)]
    )
    shapes -= shapes.mean(axis=1, keepdims=True)
    fit, power = shapes @ (y - y.mean()), np.sum(shapes**2, axis=1)
    best = int(np.argmax(fit**2 / power))
    return np.asarray(y.mean() + shapes[best] * fit[best] / power[best])
