"""Features of stages of a training: a counter that begins anew while the steps go on shows that training was started
again, such as with another task.
"""

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.alignment import chance
from loganalyst.features.context import Computed, Context, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

COUNTER = "a counter of iterations"
FEATURES = (
    Feature("stage_count", "int", "stages", "stages of a counter that begins anew while the steps go on (1: it never does)", COUNTER),
    Feature("stage_metric", "text", "", "name of this counter", COUNTER),
    Feature("reward_stage_step", "int", "step", "first stage that began after the reward was at its best", COUNTER),
    Feature("reward_stage_chance", "float", "probability", "probability that a random step precedes a stage as closely as the best reward does", COUNTER),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no counter begins anew, or no reward is logged."""
    reward = context.main_reward()
    counters = [(curve, starts) for curve in context.with_role("step") if (starts := _starts(curve)).size > 0]
    if reward is None or not counters:
        return {}
    curve, starts = min(counters, key=lambda pair: pair[1].size)
    if starts.size >= feature_limit("stages_most"):
        return {}
    out: Computed = {"stage_count": starts.size + 1, "stage_metric": (curve.metric, witness_at(curve))}
    best = context.shape(reward).best_index
    if best is None:
        return out
    share, after = chance(-float(reward.steps[best]), -starts[::-1], -reward.steps[::-1])
    if after is not None:
        out |= {"reward_stage_chance": share, "reward_stage_step": (-after, witness_at(reward, best))}
    return out


def _starts(curve: Curve) -> NDArray[np.float64]:
    """The steps at which the counter fell back to where it began, within one start of the program."""
    values, steps = curve.values, curve.steps.astype(float)
    if values.size < 2 or not np.isfinite(values).all() or (np.diff(curve.steps) <= 0).any():
        return np.empty(0)
    again = (np.diff(values) < 0) & (values[1:] <= values[0]) & (np.diff(curve.sessions) == 0)
    return np.asarray(steps[1:][again], dtype=np.float64)
