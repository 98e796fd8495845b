"""Steps that are slow: at equal distances by checkpoints or other work that comes back, else by garbage collection and the like."""

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.logtimes import is_periodic
from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.features.settingnames import setting_names
from loganalyst.model import Feature
from loganalyst.thresholds import feature_limit

NEEDS = "step_time"
FEATURES = (
    Feature("slow_step_count", "int", "steps", "steps that take several times as long as usual (0 = none)", NEEDS),
    Feature("slow_step_interval", "float", "steps", "distance between these steps (NULL: they come at no equal distances)", NEEDS),
    Feature("slow_step_irregular", "bool", "", "at least four of these steps come at no equal distances", NEEDS),
    Feature("slow_step_ratio", "float", "ratio", "median time of these steps divided by the usual time of a step", NEEDS),
    Feature("slow_step_lost_share", "float", "share", "share of all time that these steps take beyond the usual time", NEEDS),
    Feature("slow_step_setting", "text", "", "setting of an interval that equals this distance", NEEDS),
)  # fmt: skip
MIN_STEPS, MIN_SLOW = 40, 4


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if few step times are logged."""
    curve = next((c for c in context.with_role("step_time") if c.values.size >= MIN_STEPS), None)
    if curve is None:
        return {}
    seconds = np.where(np.isfinite(curve.values) & (curve.values > 0), curve.values, np.nan)
    if np.isnan(seconds).mean() > 0.5:
        return {}
    usual = float(np.nanmedian(seconds))
    slow = np.flatnonzero(seconds[1:] > feature_limit("slow_step_ratio") * usual) + 1  # the first step warms up
    if slow.size < MIN_SLOW:
        return {"slow_step_count": int(slow.size)}
    interval = _interval(curve.steps[slow])
    return {
        "slow_step_count": (int(slow.size), witness_at(curve, int(slow[0]))),
        "slow_step_interval": interval,
        "slow_step_irregular": interval is None,
        "slow_step_ratio": ratio(float(np.median(seconds[slow])), usual),
        "slow_step_lost_share": float((seconds[slow] - usual).sum() / np.nansum(seconds)),
        "slow_step_setting": _setting(context, interval),
    }


def _interval(steps: NDArray[np.int64]) -> float | None:
    """The distance between steps that recur, or None."""
    return float(np.median(np.diff(steps))) if is_periodic(steps) else None


def _setting(context: Context, interval: float | None) -> str | None:
    """The name of the first setting of an interval with this value."""
    names = setting_names()
    keys = (*names.collecting, *names.saving, *names.evaluating)
    return next((key for key in keys if interval is not None and context.number(key) == interval), None)
