"""Features of memory over a run: does it grow steadily, and how much of the reserved memory is used?"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.model import Curve, Feature

HOST, DEVICE = "host_memory", "gpu_memory"


def _growth_features(name: str, reading: str, needs: str) -> tuple[Feature, ...]:
    return (
        Feature(f"{name}_metric", "text", "", f"{reading} that grew most", needs),
        Feature(f"{name}_points", "int", "points", "number of its readings", needs),
        Feature(f"{name}_growth_ratio", "float", "ratio", "its last level divided by its level after the first quarter of the run, which loads and warms up", needs),
        Feature(f"{name}_rising_share", "float", "share", "the rest of the run in eighths: share of these that lie above the previous one (1 = it always rises)", needs),
        Feature(f"{name}_late_share", "float", "share", "share of the growth in the second half of the rest of the run (about one half: steady growth)", needs),
    )  # fmt: skip


FEATURES = (
    *_growth_features("host_memory", "metric of host memory (of the process if there is one)", HOST),
    *_growth_features("device_memory", "metric of accelerator memory", DEVICE),
    Feature("device_memory_idle_share", "float", "share", "share of the reserved accelerator memory that is not allocated at the end, of the device with the largest share", "allocated and reserved memory"),
    Feature("device_memory_idle_first", "float", "share", "the same share at the start of the run", "allocated and reserved memory"),
)  # fmt: skip
MIN_READINGS = 32  # readings for a trend
TREND_PARTS = 8  # medians that show the trend
# W&B's "gpu.0.memory" and "gpu.process.0.memory" are shares of time with memory access
_ACCESS = re.compile(r"gpu(\.process)?[._/]?\d*[._/]memory$")
# memory of the process itself: "rss_gb", "proc.memory.rssMB"
_PROCESS = re.compile(r"rss|proc(ess)?[^a-z]")


def compute(context: Context) -> Computed:
    """All of FEATURES for which there are readings."""
    host = context.with_role(HOST)
    own = [c for c in host if _PROCESS.search(c.metric.lower())]
    device = [c for c in context.with_role(DEVICE) if not _ACCESS.search(c.metric)]
    return _growth("host_memory", own or host) | _growth("device_memory", device) | _idle(device)


def _growth(name: str, curves: Sequence[Curve]) -> Computed:
    levels = {c.metric: (c, found) for c in curves if (found := _levels(c.values)) is not None}
    if not levels:
        return {}
    metric = max(levels, key=lambda m: levels[m][1][-1] / levels[m][1][0])
    curve, level = levels[metric]
    grew = level[-1] - level[0]
    last = witness_at(curve, len(curve.values) - 1)
    return {
        f"{name}_metric": (metric, witness_at(curve)),
        f"{name}_points": int(np.isfinite(curve.values).sum()),
        f"{name}_growth_ratio": (float(level[-1] / level[0]), last),
        f"{name}_rising_share": float((np.diff(level) > 0).mean()),
        f"{name}_late_share": ratio(
            float(level[-1] - np.mean(level[TREND_PARTS // 2 - 1 : TREND_PARTS // 2 + 1])), float(grew)
        ),
    }


def _levels(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Medians of the eighths of the run after its first quarter."""
    x = values[np.isfinite(values)]
    if x.size < MIN_READINGS:
        return None
    level = np.array([np.median(part) for part in np.array_split(x[x.size // 4 :], TREND_PARTS)])
    return level if level[0] > 0 else None


def _idle(curves: Sequence[Curve]) -> Computed:
    """Readings that form pairs: their names differ only in "reserved" and "allocated"."""
    by_name = {c.metric.lower(): c for c in curves}
    pairs = [
        (by_name[name], by_name[name.replace("reserved", "allocated")])
        for name in by_name
        if "reserved" in name and name.replace("reserved", "allocated") in by_name
    ]
    shares = [(s, a) for r, a in pairs if (s := _unused(r, a)) is not None]
    if not shares:
        return {}
    (first, last), allocated = max(shares, key=lambda pair: pair[0][1])
    witness = witness_at(allocated, len(allocated.values) - 1)
    return {"device_memory_idle_share": (last, witness), "device_memory_idle_first": first}


def _unused(reserved: Curve, allocated: Curve) -> tuple[float, float] | None:
    """Share not allocated in the first and in the last quarter; None if the two were not logged together."""
    if not np.array_equal(reserved.steps, allocated.steps):
        return None
    some = np.isfinite(allocated.values) & (reserved.values > 0)
    share = 1 - allocated.values[some] / reserved.values[some]
    if share.size < MIN_READINGS or share.min() < 0:
        return None
    return float(np.median(share[: share.size // 4])), float(np.median(share[-(share.size // 4) :]))
