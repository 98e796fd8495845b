"""Features of adversarial training: do generator and discriminator swing, and does one win?"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

GENERATOR, DISCRIMINATOR = "generator_loss", "discriminator_loss"
FEATURES = (
    Feature("generator_swing_count", "int", "swings", "upward swings of the generator's loss after the first fifth of the run, larger than its jitter", GENERATOR),
    Feature("generator_swing_relative", "float", "share", "typical size of these swings relative to the level of the loss", GENERATOR),
    Feature("generator_loss_min", "float", "loss", "lowest value of the generator's loss", GENERATOR),
    Feature("discriminator_swing_relative", "float", "share", "typical size of the upward swings of the discriminator's loss relative to its level", DISCRIMINATOR),
    Feature("discriminator_win_share", "float", "share", "share of the run, after its first tenth, in which a discriminator loss that is never negative is below 0.05: the discriminator is almost never wrong", DISCRIMINATOR),
    Feature("adversarial_correlation", "float", "correlation", "correlation of generator and discriminator loss in the second half (near -1: one wins when the other loses)", DISCRIMINATOR),
    Feature("adversarial_samples_judged", "bool", "", "a distance or a score of the generated samples, or the number of modes that they reach, is logged", GENERATOR),
    Feature("adversarial_loss_range", "float", "share", "largest of both losses' ranges (without the outermost hundredths), as a share of the level", DISCRIMINATOR),
    Feature("sample_modes_metric", "text", "", "name of the number of modes that samples reach", "sample_modes"),
    Feature("sample_modes_best", "float", "modes", "highest number of modes that samples reached", "sample_modes"),
    Feature("sample_modes_last", "float", "modes", "last level of this number", "sample_modes"),
    Feature("sample_spread_metric", "text", "", "name of the spread of samples", "sample_spread"),
    Feature("sample_spread_share", "float", "share", "last level of this spread divided by its largest value", "sample_spread"),
    Feature("adversarial_spread_growth", "float", "ratio", "spread of the generator's loss in the last third of the run divided by its spread in the middle third", GENERATOR),
)  # fmt: skip
SAMPLE_QUALITY_ROLES = ("sample_distance", "sample_modes", "val_score", "val_accuracy", "val_loss")
MIN_POINTS = 30  # finite values for a spread or a correlation
MIN_SAMPLES = 5  # evaluations of generated samples
MIN_COUNTS = 3  # counts of modes, which have no noise


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    generator, discriminator = context.with_role(GENERATOR)[:1], context.with_role(DISCRIMINATOR)[:1]
    out: Computed = {}
    if generator:
        out["adversarial_samples_judged"] = bool(context.with_role(*SAMPLE_QUALITY_ROLES))
    for curve in generator:
        shape, x = context.shape(curve), curve.values[np.isfinite(curve.values)]
        out["generator_swing_count"] = (shape.swing_count, witness_at(curve))
        out["generator_swing_relative"] = shape.swing_relative
        out["generator_loss_min"] = float(x.min()) if x.size else None
        out["adversarial_spread_growth"] = _spread_growth(x)
    for curve in discriminator:
        out["discriminator_swing_relative"] = (context.shape(curve).swing_relative, witness_at(curve))
        out["discriminator_win_share"] = _win_share(curve.values[np.isfinite(curve.values)])
    out |= _samples(context)
    if generator and discriminator:
        ranges = [_range(curve.values) for curve in (generator[0], discriminator[0])]
        known = [r for r in ranges if r is not None]
        out["adversarial_loss_range"] = max(known) if len(known) == len(ranges) else None
        out["adversarial_correlation"] = (
            _correlation(generator[0], discriminator[0]),
            witness_at(discriminator[0]),
        )
    return out


def _samples(context: Context) -> Computed:
    """How much generated samples differ."""
    out: Computed = {}
    for curve in context.with_role("sample_modes")[:1]:
        values = context.until_nonfinite(curve)
        if np.isfinite(values).sum() >= MIN_COUNTS:
            out["sample_modes_metric"] = curve.metric
            out["sample_modes_best"] = float(np.nanmax(values))
            out["sample_modes_last"] = (last_level(values), witness_at(curve))
    for curve in context.with_role("sample_spread")[:1]:
        values = context.until_nonfinite(curve)
        if np.isfinite(values).sum() >= MIN_SAMPLES:
            out["sample_spread_metric"] = curve.metric
            out["sample_spread_share"] = (ratio(last_level(values), float(np.nanmax(values))), witness_at(curve))
    return out


def _range(values: NDArray[np.float64]) -> float | None:
    """The range of the values as a share of their level; None for few values."""
    x = values[np.isfinite(values)]
    if x.size < MIN_POINTS:
        return None
    low, high = np.quantile(x, (0.01, 0.99))
    return ratio(float(high - low), abs(float(np.median(x))))


def _win_share(x: NDArray[np.float64]) -> float | None:
    """Share of a loss that is never negative below the limit; a critic's difference of scores has no such limit."""
    late = x[x.size // 10 :]
    return float(np.mean(late < feature_limit("discriminator_won"))) if x.size >= MIN_POINTS and x.min() >= 0 else None


def _spread_growth(x: NDArray[np.float64]) -> float | None:
    """Spread of the last third divided by the spread of the middle third."""
    middle, last = x[x.size // 3 : 2 * x.size // 3], x[2 * x.size // 3 :]
    if x.size < MIN_POINTS or not middle.std() > 0:
        return None
    return float(last.std() / middle.std())


def _correlation(one: Curve, other: Curve) -> float | None:
    """Correlation at the steps of the second half where both are finite."""
    steps, a, b = np.intersect1d(one.steps, other.steps, return_indices=True)
    x, y = one.values[a][steps.size // 2 :], other.values[b][steps.size // 2 :]
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    return float(np.corrcoef(x, y)[0, 1]) if x.size >= MIN_POINTS and x.std() > 0 and y.std() > 0 else None
