"""Scaling laws over the sizes of runs: which can be fitted, how sure, and whether the largest run is well spent."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing import powerlaw
from loganalyst.comparing.comparisonresult import Optimum, Scaling, ScalingFit, Verdict

Floats = NDArray[np.float64]

SIZES, WIDE = 5, 10.0  # different sizes a law needs, and the factor between the largest and the smallest
JOINT_RUNS, JOINT_SIZES = 10, 3  # runs, and sizes on either axis, that the law of both needs
APART = 0.95  # correlation of the logarithms up to which parameters and tokens can be told apart
LOOSE = 4.0  # an exponent whose interval spans this factor is not determined
DRAWN = 40  # points of a drawn curve
AXES = ("parameters", "tokens", "samples", "compute")


def scaling(ids: Sequence[str], sizes: pl.DataFrame, loss: pl.Series, same: pl.Series) -> Scaling:
    """Fits over the runs (in order) that have a positive loss; `same` is one number for equal settings: of each size
    only the best settings count.
    """
    rows = sizes.with_columns(loss=loss, same=same, run=pl.Series(list(ids))).filter(pl.col("loss") > 0)
    if not rows.height:
        return Scaling(why_not="no comparable run has a positive loss")
    axes = [a for a in AXES if rows[a].drop_nulls().n_unique() > 1]
    if not axes:
        return Scaling(why_not="neither parameters nor tokens differ between runs, or they are not logged")
    if "tokens" in axes:
        axes = [a for a in axes if a != "samples"]
    data = "tokens" if "tokens" in axes else "samples"
    both = {"parameters", data} <= {*axes}
    joint, optimum = _joint(rows, data) if both else (None, None)
    fits = [joint] if joint else []
    if not any(f.verdict == "fitted" for f in fits):
        fits += [_single(rows, a) for a in axes if a not in ("compute", "samples") or not both]
    fits += [_frontier(rows)] if "compute" in axes else []
    return Scaling(tuple(fits), optimum)


def _best_of_size(rows: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    """Of each size the runs of the settings that are best on average."""
    some = rows.drop_nulls([*axes, "loss"]).with_columns(mean=pl.col("loss").mean().over(*axes, "same"))
    return some.filter(pl.col("mean") == pl.col("mean").min().over(*axes)).sort(*axes)


def _single(rows: pl.DataFrame, axis: str) -> ScalingFit:
    held = [a for a in ("parameters", "tokens") if a != axis and rows[a].drop_nulls().n_unique() > 1]
    some = _best_of_size(rows, [axis])
    found = _fitted(some, axis, "L = E + A x^-alpha")
    if held and found.verdict == "fitted":
        return _with(
            found, "undetermined", f"{found.text}; {held[0]} changed with it, so that it is the law of both together"
        )
    return found


def _frontier(rows: pl.DataFrame) -> ScalingFit:
    """Over compute only what no cheaper run reaches."""
    some = rows.drop_nulls(["compute", "loss"]).sort("compute", "loss")
    best = some.filter(pl.col("loss") <= pl.col("loss").cum_min()).unique("compute", keep="first", maintain_order=True)
    return _fitted(best, "compute", "L = E + A C^-alpha, of runs that no cheaper one beats")


def _fitted(some: pl.DataFrame, axis: str, words: str) -> ScalingFit:
    x, loss = some[axis].to_numpy(), some["loss"].to_numpy()
    span = float(x.max() / x.min()) if x.size else 1.0
    points = tuple(zip(x.tolist(), loss.tolist(), strict=True))
    if why := _why_not(np.unique(x).size, span, axis):
        return ScalingFit(axis, words, why[0], x.size, span, why[1], points=points)
    found = powerlaw.fit(x[:, None], loss)
    parameters = found.intervals()
    verdict, text = _judged(parameters, "alpha", float(loss.min()))
    grid = np.geomspace(x.min(), x.max() * 4, DRAWN)
    ends = np.quantile(found.draws_at(grid[:, None]), powerlaw.INTERVAL, axis=0)
    curve = tuple(zip(grid.tolist(), found.at(grid[:, None]).tolist(), ends[0].tolist(), ends[1].tolist(), strict=True))
    return ScalingFit(axis, words, verdict, x.size, span, text, parameters, float(found.residual), points, curve)


def _why_not(sizes: int, span: float, axis: str) -> tuple[Verdict, str] | None:
    if sizes < SIZES:
        return "too_few", f"{sizes} different sizes; {SIZES} are needed for a limit, a factor and an exponent"
    if span < WIDE:
        return (
            "too_narrow",
            f"{axis} span a factor of {span:.3g}; {WIDE:g} and more tell an exponent from a straight line",
        )
    return None


def _judged(parameters: dict[str, tuple[float, float, float]], name: str, least: float) -> tuple[Verdict, str]:
    value, low, high = parameters[name]
    if high > LOOSE * low or low <= 2 * powerlaw.EXPONENT_RANGE[0]:
        return (
            "undetermined",
            f"{name} may be anything from {low:.2g} to {high:.2g}: more sizes or a wider span would tell",
        )
    limit, limit_low, _ = parameters["E"]
    known = limit_low > 0.05 * least
    told = f"the limit is about {limit:.3g}" if known else "no limit is seen yet: a plain power law fits as well"
    return "fitted", f"{name} {value:.3g} ({low:.3g} to {high:.3g}); {told}"


def _with(fit: ScalingFit, verdict: Verdict, text: str) -> ScalingFit:
    return ScalingFit(
        fit.x, fit.law, verdict, fit.runs, fit.span, text, fit.parameters, fit.residual, fit.points, fit.curve
    )


def _joint(rows: pl.DataFrame, data: str) -> tuple[ScalingFit, Optimum | None]:
    """Both at once: the form of Hoffmann et al. 2022 (arXiv:2203.15556); and what it says of the largest run."""
    words = f"L = E + A parameters^-alpha + B {data}^-beta"
    axes = f"parameters, {data}"
    some = _best_of_size(rows, ["parameters", data])
    x = some.select("parameters", data).to_numpy()
    loss = some["loss"].to_numpy()
    span = float(min(np.exp(np.ptp(np.log(x), axis=0)))) if len(x) else 1.0
    few = min((np.unique(x[:, i]).size for i in range(2)), default=0)
    if len(x) < JOINT_RUNS or few < JOINT_SIZES:
        why = f"{len(x)} runs, {few} sizes on the shorter axis; for both {JOINT_RUNS} and {JOINT_SIZES} are needed"
        return ScalingFit(axes, words, "too_few", len(x), span, why), None
    together = abs(float(np.corrcoef(np.log(x).T)[0, 1]))
    if together > APART:
        why = f"parameters and {data} grew together (correlation {together:.2f}): which of them helps cannot be told"
        return ScalingFit(axes, words, "too_narrow", len(x), span, why), None
    found = powerlaw.fit(x, loss)
    parameters = found.intervals()
    judged = [_judged(parameters, name, float(loss.min())) for name in ("alpha", "beta")]
    verdict: Verdict = next((v for v, _ in judged if v != "fitted"), "fitted")
    text = "; ".join(dict.fromkeys(part for _, t in judged for part in t.split("; ")))
    points = tuple((*map(float, row), float(value)) for row, value in zip(x, loss, strict=True))
    told = ScalingFit(axes, words, verdict, len(x), span, text, parameters, float(found.residual), points)
    return told, _optimum(some, data, found) if verdict == "fitted" else None


def _optimum(some: pl.DataFrame, data: str, found: powerlaw.Law) -> Optimum:
    """The run with most compute beside what the law finds optimal for as much: C = 6 N D."""
    row = some.sort(pl.col("parameters") * pl.col(data)).row(-1, named=True)
    n, d = row["parameters"], row[data]
    theta = np.vstack([found.theta, found.drawn])
    best_n, gain = _compute_optimal(theta, n, d)
    best_d = n * d / best_n
    three = (_three(best_n), _three(best_d), _three(gain))
    low, high = three[0][1:]
    ratio = n / three[0][0]
    well = low <= n <= high
    text = (
        f"well spent: {_size(n)} parameters, and {_size(low)} to {_size(high)} are optimal for as much compute"
        if well
        else f"{'too large' if ratio > 1 else 'too small'} for its compute by a factor of {max(ratio, 1 / ratio):.2g}: "
        f"{_size(three[0][0])} parameters ({_size(low)} to {_size(high)}) on {_size(three[1][0])} {data} would "
        f"gain {three[2][0]:.2g}"
    )
    return Optimum(row["run"], data, n, d, *three, text)


def _size(value: float) -> str:
    return f"{value:,.0f}" if value < 1e6 else f"{value:.3g}"


def _compute_optimal(theta: Floats, n: float, d: float) -> tuple[Floats, Floats]:
    """Optimal parameters for C = 6 n d, and the loss that they gain over (n, d); one value a row of theta."""
    a, alpha, b, beta = theta[:, 1], np.exp(theta[:, 2]), theta[:, 3], np.exp(theta[:, 4])
    cost = np.log(n * d)
    best = np.exp((a + np.log(alpha) - b - np.log(beta) + beta * cost) / (alpha + beta))
    at = [np.exp(a - alpha * np.log(p)) + np.exp(b - beta * np.log(n * d / p)) for p in (np.full_like(best, n), best)]
    return best, at[0] - at[1]


def _three(draws: Floats) -> tuple[float, float, float]:
    """The estimate (first row) and both ends of the interval of the rest."""
    low, high = np.quantile(draws[1:], powerlaw.INTERVAL)
    return float(draws[0]), float(low), float(high)
