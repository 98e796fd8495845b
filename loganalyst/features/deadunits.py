"""Dead units that the run counts itself: the share that it logs as a metric, such as `train/dead_frac`."""

import re

import numpy as np

from loganalyst.curves.metricnames import normalise
from loganalyst.features.context import Computed, Context, last_level, witness_at
from loganalyst.model import Curve, Feature

NEEDS = "a logged share of dead units"
FEATURES = (
    Feature("dead_logged_share", "float", "share", "last level of the largest share of dead units that the run logs itself", NEEDS),
    Feature("dead_logged_first", "float", "share", "first value of the same metric", NEEDS),
    Feature("dead_logged_metric", "text", "", "this metric", NEEDS),
)  # fmt: skip
# "train/dead_frac", "dead_relu_ratio"
DEAD = re.compile(r"(^|_)dead(_|$)")
SHARE = re.compile(r"(^|_)(frac|fraction|ratio|share|rate|proportion)(_|$)")
# codes of a codebook and features of a sparse autoencoder are no units of the network; players and agents die, too
OTHER = re.compile(
    r"(^|_)(code|codes|codebook|entries|feature|features|latent|latents|agent|agents|player|players)(_|$)"
)


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no share of dead units is logged."""
    shares = {c.metric: (level, c) for c in context.curves if (level := _level(c)) is not None}
    if not shares:
        return {}
    share, curve = max(shares.values(), key=lambda found: found[0])
    return {
        "dead_logged_share": (share, witness_at(curve)),
        "dead_logged_first": float(curve.values[np.isfinite(curve.values)][0]),
        "dead_logged_metric": curve.metric,
    }


def _level(curve: Curve) -> float | None:
    """The last level of a share of dead units; None for other metrics, and for counts."""
    name = normalise(curve.metric)
    if not (DEAD.search(name) and SHARE.search(name)) or OTHER.search(name):
        return None
    finite = curve.values[np.isfinite(curve.values)]
    if not finite.size or finite.min() < 0 or finite.max() > 1:
        return None
    return last_level(finite)
