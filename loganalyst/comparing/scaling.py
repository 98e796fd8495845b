"""Scaling laws over the sizes of runs: fits with intervals, and whether the largest run uses its compute well."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing import powerlaw
from loganalyst.comparing.comparisonresult import Optimum, Scaling, ScalingFit, Verdict

Floats = NDArray[np.float64]

MIN_SIZES, MIN_SPAN = 5, 10.0  # different sizes that a law needs, and the largest size divided by the smallest
MIN_JOINT_RUNS, MIN_JOINT_SIZES = 10, 3  # runs, and sizes on either axis, that the joint law needs
MAX_CORRELATION = 0.95  # of log parameters and log data; above it their effects cannot be separated
MAX_EXPONENT_RATIO = 4.0  # ends of an exponent's interval; above it the exponent is not determined
MIN_LIMIT_SHARE = 0.05  # of the smallest loss; an irreducible loss that may be smaller is not seen
EXTRAPOLATION = 4  # the plotted curve reaches this multiple of the largest size
CURVE_POINTS = 40
AXES = ("parameters", "tokens", "samples", "compute")


def scaling(ids: Sequence[str], sizes: pl.DataFrame, loss: pl.Series, same: pl.Series) -> Scaling:
    """Laws fitted to the runs with a positive loss. `same` is equal for runs with equal settings; only the best
    settings of each size count. `ids`, `sizes`, `loss` and `same` have the same order.
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
    """For each size, the runs with the settings that are best on average."""
    usable = rows.drop_nulls([*axes, "loss"]).with_columns(mean=pl.col("loss").mean().over(*axes, "same"))
    return usable.filter(pl.col("mean") == pl.col("mean").min().over(*axes)).sort(*axes)


def _single(rows: pl.DataFrame, axis: str) -> ScalingFit:
    also_varied = [a for a in ("parameters", "tokens") if a != axis and rows[a].drop_nulls().n_unique() > 1]
    best = _best_of_size(rows, [axis])
    found = _fitted(best, axis, "L = E + A x^-alpha")
    if also_varied and found.verdict == "fitted":
        text = f"{found.text}; {also_varied[0]} changed with it, so this law describes both together"
        return replace(found, verdict="undetermined", text=text)
    return found


def _frontier(rows: pl.DataFrame) -> ScalingFit:
    """The law over compute, of the runs that no cheaper run beats."""
    usable = rows.drop_nulls(["compute", "loss"]).sort("compute", "loss")
    best = usable.filter(pl.col("loss") <= pl.col("loss").cum_min()).unique(
        "compute", keep="first", maintain_order=True
    )
    return _fitted(best, "compute", "L = E + A C^-alpha, of runs that no cheaper one beats")


def _fitted(rows: pl.DataFrame, axis: str, law: str) -> ScalingFit:
    """The law over one axis, or why it cannot be fitted."""
    x, loss = rows[axis].to_numpy(), rows["loss"].to_numpy()
    span = float(x.max() / x.min()) if x.size else 1.0
    points = tuple(zip(x.tolist(), loss.tolist(), strict=True))
    if why := _why_not(np.unique(x).size, span, axis):
        return ScalingFit(axis, law, why[0], x.size, span, why[1], points=points)
    found = powerlaw.fit(x[:, None], loss)
    parameters = found.intervals()
    verdict, text = _judged(parameters, "alpha", float(loss.min()))
    grid = np.geomspace(x.min(), x.max() * EXTRAPOLATION, CURVE_POINTS)
    ends = np.quantile(found.draws_at(grid[:, None]), powerlaw.INTERVAL, axis=0)
    curve = tuple(zip(grid.tolist(), found.at(grid[:, None]).tolist(), ends[0].tolist(), ends[1].tolist(), strict=True))
    return ScalingFit(axis, law, verdict, x.size, span, text, parameters, float(found.residual), points, curve)


def _why_not(sizes: int, span: float, axis: str) -> tuple[Verdict, str] | None:
    if sizes < MIN_SIZES:
        return "too_few", f"{sizes} different sizes; {MIN_SIZES} are needed for a limit, a factor and an exponent"
    if span < MIN_SPAN:
        return (
            "too_narrow",
            f"{axis} span a factor of {span:.3g}; at least {MIN_SPAN:g} is needed to estimate an exponent",
        )
    return None


def _judged(parameters: dict[str, tuple[float, float, float]], name: str, least: float) -> tuple[Verdict, str]:
    """Whether an exponent is determined, and a text with its interval and the irreducible loss."""
    value, low, high = parameters[name]
    if high > MAX_EXPONENT_RATIO * low or low <= 2 * powerlaw.EXPONENT_RANGE[0]:
        return (
            "undetermined",
            f"{name} may be anything from {low:.2g} to {high:.2g}: more sizes or a wider span are needed",
        )
    limit, limit_low, _ = parameters["E"]
    known = limit_low > MIN_LIMIT_SHARE * least
    text = f"the limit is about {limit:.3g}" if known else "no limit is visible yet: a plain power law fits as well"
    return "fitted", f"{name} {value:.3g} ({low:.3g} to {high:.3g}); {text}"


def _joint(rows: pl.DataFrame, data: str) -> tuple[ScalingFit, Optimum | None]:
    """The joint law, in the form of Hoffmann et al. 2022 (arXiv:2203.15556), and the optimum for the largest run."""
    law = f"L = E + A parameters^-alpha + B {data}^-beta"
    axes = f"parameters, {data}"
    best = _best_of_size(rows, ["parameters", data])
    x = best.select("parameters", data).to_numpy()
    loss = best["loss"].to_numpy()
    span = float(min(np.exp(np.ptp(np.log(x), axis=0)))) if len(x) else 1.0
    sizes = min((np.unique(x[:, i]).size for i in range(2)), default=0)
    if len(x) < MIN_JOINT_RUNS or sizes < MIN_JOINT_SIZES:
        why = f"{len(x)} runs, {sizes} sizes on the shorter axis; {MIN_JOINT_RUNS} and {MIN_JOINT_SIZES} are needed"
        return ScalingFit(axes, law, "too_few", len(x), span, why), None
    together = abs(float(np.corrcoef(np.log(x).T)[0, 1]))
    if together > MAX_CORRELATION:
        why = f"parameters and {data} grew together (correlation {together:.2f}): their effects cannot be separated"
        return ScalingFit(axes, law, "too_narrow", len(x), span, why), None
    found = powerlaw.fit(x, loss)
    parameters = found.intervals()
    judged = [_judged(parameters, name, float(loss.min())) for name in ("alpha", "beta")]
    verdict: Verdict = next((v for v, _ in judged if v != "fitted"), "fitted")
    text = "; ".join(dict.fromkeys(part for _, t in judged for part in t.split("; ")))
    points = tuple((*map(float, row), float(value)) for row, value in zip(x, loss, strict=True))
    fit = ScalingFit(axes, law, verdict, len(x), span, text, parameters, float(found.residual), points)
    return fit, _optimum(best, data, found) if verdict == "fitted" else None


def _optimum(rows: pl.DataFrame, data: str, found: powerlaw.Law) -> Optimum:
    """The run with the most compute, compared with the optimum for the same compute (C = 6 N D)."""
    row = rows.sort(pl.col("parameters") * pl.col(data)).row(-1, named=True)
    n, d = row["parameters"], row[data]
    theta = np.vstack([found.theta, found.drawn])
    best_n, gain = _compute_optimal(theta, n, d)
    best_d = n * d / best_n
    three = (_with_interval(best_n), _with_interval(best_d), _with_interval(gain))
    low, high = three[0][1:]
    ratio = n / three[0][0]
    well = low <= n <= high
    text = (
        f"well balanced: {_size(n)} parameters; {_size(low)} to {_size(high)} are optimal for the same compute"
        if well
        else f"{'too large' if ratio > 1 else 'too small'} for its compute by a factor of {max(ratio, 1 / ratio):.2g}: "
        f"{_size(three[0][0])} parameters ({_size(low)} to {_size(high)}) on {_size(three[1][0])} {data} would "
        f"gain {three[2][0]:.2g}"
    )
    return Optimum(row["run"], data, n, d, *three, text)


def _size(value: float) -> str:
    return f"{value:,.0f}" if value < 1e6 else f"{value:.3g}"


def _compute_optimal(theta: Floats, n: float, d: float) -> tuple[Floats, Floats]:
    """The optimal parameters for C = 6 n d, and their gain in loss over (n, d), for each row of theta."""
    a, alpha, b, beta = theta[:, 1], np.exp(theta[:, 2]), theta[:, 3], np.exp(theta[:, 4])
    cost = np.log(n * d)
    best = np.exp((a + np.log(alpha) - b - np.log(beta) + beta * cost) / (alpha + beta))
    at = [np.exp(a - alpha * np.log(p)) + np.exp(b - beta * np.log(n * d / p)) for p in (np.full_like(best, n), best)]
    return best, at[0] - at[1]


def _with_interval(draws: Floats) -> tuple[float, float, float]:
    """The estimate (first value), and both ends of the interval of the other values."""
    low, high = np.quantile(draws[1:], powerlaw.INTERVAL)
    return float(draws[0]), float(low), float(high)
