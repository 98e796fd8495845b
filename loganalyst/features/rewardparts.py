"""Features of several rewards of one run: is one part fully earned while another stands still, and did another reward,
such as that of evaluations, rise?
"""

from collections.abc import Iterable

import numpy as np

from loganalyst.features.context import Computed, Context, last_level, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.signals.standarderror import whole_z
from loganalyst.thresholds import feature_limit

PART = "reward_component"
FEATURES = (
    Feature("reward_part_full_metric", "text", "", "the reward for the form of answers that rose most, first of those near their highest value", PART),
    Feature("reward_part_full_last", "float", "share", "last level of this part as a share of its highest value", PART),
    Feature("reward_part_still_metric", "text", "", "the part of the reward between 0 and 1 that is lowest at the end, and did not rise", PART),
    Feature("reward_part_still_last", "float", "share", "last level of this part", PART),
    Feature("reward_part_still_highest", "float", "share", "highest value of this part (0: it was never paid)", PART),
    Feature("reward_other_metric", "text", "", "the other reward or held-out score that rose most", "reward"),
    Feature("reward_other_gain_z", "float", "standard errors", "its gain from the first tenth to the last third, in standard errors (0: no other is logged)", "reward"),
)  # fmt: skip
MIN_POINTS = 10  # values of a part that show whether it rose
FORM = ("format", "tag", "xml", "structure", "length", "style")  # words of rewards for the form of an answer


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    return _parts(context) | _other(context)


def _parts(context: Context) -> Computed:
    """The parts that show that only the form of answers is learned."""
    parts = [c for c in context.with_role(PART) if np.isfinite(c.values).sum() >= MIN_POINTS]
    form = [c for c in parts if any(word in c.metric.lower() for word in FORM)]
    full = _strongest(c for c in form if _full(c) > feature_limit("reward_part_full")) or _risen(form)
    if full is None:
        return {}
    still = [(level, c) for c in parts if c not in form and (level := _still(c)) is not None]
    out: Computed = {"reward_part_full_metric": full[1].metric, "reward_part_full_last": _full(full[1])}
    if still:
        level, curve = min(still, key=lambda pair: pair[0])
        out |= {
            "reward_part_still_metric": curve.metric,
            "reward_part_still_last": (level, witness_at(curve)),
            "reward_part_still_highest": float(np.nanmax(curve.values)),
        }
    return out


def _risen(form: list[Curve]) -> tuple[float, Curve] | None:
    """The reward for the form that rose most, if it rose beyond its noise."""
    found = _strongest(form)
    return found if found is not None and found[0] > feature_limit("significant_gain") else None


def _full(curve: Curve) -> float:
    """The last level as a share of the highest value; 0 where none is above 0."""
    highest, last = float(np.nanmax(curve.values)), last_level(curve.values)
    return 0.0 if last is None or highest <= 0 else last / highest


def _still(curve: Curve) -> float | None:
    """The last level of a share that is low and did not rise; None for another curve."""
    z, last = whole_z(curve.values), last_level(curve.values)
    if z is None or last is None or z > feature_limit("significant_gain"):
        return None
    finite = curve.values[np.isfinite(curve.values)]
    return last if finite.min() >= 0 and last < feature_limit("reward_part_low") and finite.max() <= 1 else None


def _other(context: Context) -> Computed:
    """The reward or score beside the main reward that rose most."""
    main = context.main_reward()
    if main is None:
        return {}
    others = (c for c in context.with_role("reward", "success_rate", "val_score", "val_accuracy") if c is not main)
    found = _strongest(c for c in others if c.role.worse == "down")
    if found is None:
        return {"reward_other_gain_z": 0.0}
    z, curve = found
    return {"reward_other_metric": curve.metric, "reward_other_gain_z": (z, witness_at(curve))}


def _strongest(curves: Iterable[Curve]) -> tuple[float, Curve] | None:
    """The curve with the largest gain, and that gain in standard errors."""
    known = [(z, curve) for curve in curves if (z := whole_z(curve.values)) is not None]
    return max(known, key=lambda pair: pair[0], default=None)
