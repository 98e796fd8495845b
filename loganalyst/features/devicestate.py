"""Features of the state of the device: its clock and its temperature, as logged with the metrics."""

import re

import numpy as np

from loganalyst.features.context import Computed, Context, median, witness_at
from loganalyst.model import Curve, Feature

NEEDS = "the clock and the temperature of the device, logged with the metrics"
FEATURES = (
    Feature("device_clock_metric", "text", "", "metric from which the clock of the device was read (of several, the one that fell most)", NEEDS),
    Feature("device_clock_best", "float", "", "highest median clock of any tenth of the run", NEEDS),
    Feature("device_clock_last", "float", "", "median clock in the last tenth", NEEDS),
    Feature("device_clock_last_share", "float", "share", "median clock in the last tenth as a share of the best tenth", NEEDS),
    Feature("device_temperature_first", "float", "°C", "median temperature in the first tenth, of the hottest device", NEEDS),
    Feature("device_temperature_last", "float", "°C", "median temperature in the last tenth, of the hottest device", NEEDS),
)  # fmt: skip
# `system/gpu.0.smClock`, `sm_clock`, `gpu_clock_mhz`, `gpu/clock`, `clocks.sm`, `sclk`; but no clock of the memory
_CLOCK = re.compile(
    r"(?i)(?:^|[^a-z])(?:sm|gr|gpu|graphics|core)[ _./\-]?(?:clocks?)(?![a-z])|clocks?[._](?:sm|gr)\b|\bsclk\b"
)
# `system/gpu.0.temp`, `gpu_temp`, `temperature.gpu`; but no sampling temperature and no CPU
_TEMPERATURE = re.compile(r"(?i)(?:gpu|device|junction|hbm).{0,12}temp(?:erature)?(?![a-z])|temperature[._]gpu")
MIN_READINGS = 20  # readings for medians of tenths
TENTHS = 10


def compute(context: Context) -> Computed:
    """All of FEATURES that the run has readings for."""
    clocks = [(*_tenths(c), c) for c in _named(context, _CLOCK)]
    heats = [(*_tenths(c), c) for c in _named(context, _TEMPERATURE)]
    out: Computed = {}
    if clocks:
        best, _, last, curve = min(clocks, key=lambda found: found[2] / found[0])
        witness = witness_at(curve, len(curve.values) - 1)
        out |= {
            "device_clock_metric": (curve.metric, witness),
            "device_clock_best": best,
            "device_clock_last": last,
            "device_clock_last_share": (last / best, witness),
        }
    if heats:
        _, first, last, curve = max(heats, key=lambda found: found[2])
        out |= {
            "device_temperature_first": first,
            "device_temperature_last": (last, witness_at(curve, len(curve.values) - 1)),
        }
    return out


def _named(context: Context, name: re.Pattern[str]) -> list[Curve]:
    """The curves of this name with enough readings above zero."""
    found = (c for c in context.curves if name.search(c.metric))
    return [c for c in found if np.count_nonzero(np.isfinite(c.values) & (c.values > 0)) >= MIN_READINGS]


def _tenths(curve: Curve) -> tuple[float, float, float]:
    """The highest, the first and the last median of the tenths."""
    values = curve.values[np.isfinite(curve.values) & (curve.values > 0)]
    levels = [median(part) for part in np.array_split(values, TENTHS)]
    return max(levels), levels[0], levels[-1]
