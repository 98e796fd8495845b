"""Features of the contest of a generator and a discriminator: does it swing, and does one answer the other?"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, seen
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

GENERATOR, DISCRIMINATOR = "generator_loss", "discriminator_loss"
FEATURES = (
    Feature("generator_swing_count", "int", "swings", "how often the generator's loss swings up after the first fifth, beyond its jitter", GENERATOR),
    Feature("generator_swing_relative", "float", "share", "how far it typically does, against its level", GENERATOR),
    Feature("generator_loss_min", "float", "loss", "its lowest value", GENERATOR),
    Feature("discriminator_swing_relative", "float", "share", "the same of the discriminator's loss", DISCRIMINATOR),
    Feature("discriminator_win_share", "float", "share", "share of the run, after its first tenth, in which the discriminator's loss (0 and more) is below 0.05, so that it is next to never wrong", DISCRIMINATOR),
    Feature("adversarial_correlation", "float", "correlation", "of both losses in the second half (near -1: when one wins the other loses)", DISCRIMINATOR),
    Feature("adversarial_samples_judged", "bool", "", "whether a distance or a score of what is generated is logged beside the contest", GENERATOR),
    Feature("adversarial_spread_growth", "float", "ratio", "spread of the generator's loss in the last third against that in the middle third", GENERATOR),
)  # fmt: skip
JUDGES = ("sample_distance", "val_score", "val_accuracy", "val_loss")
FEWEST = 30


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    generator, discriminator = context.of(GENERATOR)[:1], context.of(DISCRIMINATOR)[:1]
    out: Computed = {}
    if generator:
        out["adversarial_samples_judged"] = bool(context.of(*JUDGES))
    for curve in generator:
        shape, x = context.shape(curve), curve.values[np.isfinite(curve.values)]
        out["generator_swing_count"] = (shape.swing_count, seen(curve))
        out["generator_swing_relative"] = shape.swing_relative
        out["generator_loss_min"] = float(x.min()) if x.size else None
        out["adversarial_spread_growth"] = _growth(x)
    for curve in discriminator:
        out["discriminator_swing_relative"] = (context.shape(curve).swing_relative, seen(curve))
        out["discriminator_win_share"] = _won(curve.values[np.isfinite(curve.values)])
    if generator and discriminator:
        out["adversarial_correlation"] = _correlation(generator[0], discriminator[0])
    return out


def _won(x: NDArray[np.float64]) -> float | None:
    """Not of a loss that is a difference of scores, as a critic's."""
    late = x[x.size // 10 :]
    return float(np.mean(late < feature_limit("discriminator_won"))) if x.size >= FEWEST and x.min() >= 0 else None


def _growth(x: NDArray[np.float64]) -> float | None:
    middle, last = x[x.size // 3 : 2 * x.size // 3], x[2 * x.size // 3 :]
    if x.size < FEWEST or not middle.std() > 0:
        return None
    return float(last.std() / middle.std())


def _correlation(one: Curve, other: Curve) -> float | None:
    """At the steps both have a finite value, of the second half."""
    steps, a, b = np.intersect1d(one.steps, other.steps, return_indices=True)
    x, y = one.values[a][steps.size // 2 :], other.values[b][steps.size // 2 :]
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    return float(np.corrcoef(x, y)[0, 1]) if x.size >= FEWEST and x.std() > 0 and y.std() > 0 else None
