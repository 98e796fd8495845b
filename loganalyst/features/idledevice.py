"""The feature that says whether readings show a mostly idle device."""

import math

import numpy as np

from loganalyst.features.context import Computed, Context
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("device_seen_idle", "bool", "", "readings show a mostly idle device: a mean utilisation below 50 %, or less than 20 % of its arithmetic used (MFU); false also without readings", "run"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES."""
    curves = context.with_role("gpu_util")
    arithmetic = [c for c in curves if "mfu" in c.metric.lower()]
    others = [c for c in curves if "mfu" not in c.metric.lower()]
    idle = _per_cent(arithmetic) < feature_limit("mfu_idle") or _per_cent(others) < feature_limit("device_idle")
    return {"device_seen_idle": bool(idle)}


def _per_cent(curves: list[Curve]) -> float:
    """The mean reading in per cent, or NaN. Readings that never exceed 1 are shares. A negative one, as nanoGPT logs at
    its start, is none.
    """
    values = np.concatenate([c.values for c in curves]) if curves else np.array([])
    known = values[np.isfinite(values) & (values >= 0)]
    if not known.size:
        return math.nan
    return float(known.mean()) * (100.0 if known.max() <= 1 else 1.0)
