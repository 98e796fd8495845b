"""Features of gradients by layer: which is smallest, how they change with depth, which vanished or exploded first."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, median, ratio
from loganalyst.features.tensors import Layer, layers, main
from loganalyst.model import Feature

ROLE = "layer_grad_norm"
FEATURES = (
    Feature("layer_grad_count", "int", "layers", "layers with a gradient of their own (biases and normalisation are left out if there are others)", ROLE),
    Feature("layer_grad_ratio", "float", "ratio", "largest layer gradient divided by the smallest, at the end", ROLE),
    Feature("layer_grad_first_ratio", "float", "ratio", "largest layer gradient divided by the smallest, at the start", ROLE),
    Feature("layer_grad_min", "float", "norm", "smallest last level of a layer", ROLE),
    Feature("layer_grad_min_metric", "text", "", "layer with the smallest gradient", ROLE),
    Feature("layer_grad_max_metric", "text", "", "layer with the largest gradient", ROLE),
    Feature("layer_grad_depth_decades", "float", "decades", "change of the gradient from the last layer to the first at the end, by a straight line through the layers (below 0: it shrinks towards the input)", ROLE),
    Feature("layer_grad_depth_fit", "float", "share", "share of the differences between layers that this line explains (R²)", ROLE),
    Feature("layer_grad_fall_ratio", "float", "ratio", "last level divided by first level of the layer that fell most, relative to the median of all layers", ROLE),
    Feature("layer_grad_fall_metric", "text", "", "of the layers that fell most, the one that fell first", ROLE),
    Feature("layer_grad_fall_step", "int", "step", "step at which it had permanently done half of its fall (in decades)", ROLE),
    Feature("layer_grad_rise_ratio", "float", "ratio", "largest value of a layer divided by its median before that", ROLE),
    Feature("layer_grad_rise_metric", "text", "", "of the layers that rose most, the one that rose first", ROLE),
    Feature("layer_grad_rise_step", "int", "step", "step at which it first exceeded half of its rise (in decades)", ROLE),
    Feature("layer_grad_nonfinite_count", "int", "layers", "layers with a NaN or infinite gradient at some step (0 = none found)", ROLE),
    Feature("layer_grad_nonfinite_metric", "text", "", "layer that became non-finite first", ROLE),
    Feature("layer_grad_nonfinite_step", "int", "step", "first step with a non-finite gradient in this layer", ROLE),
)  # fmt: skip
MIN_POINTS = 4  # logged steps for a rise or fall of a layer, and layers for a straight line


def compute(context: Context) -> Computed:
    """All of FEATURES, if at least two layers were logged."""
    found = main([layer for layer in layers(context, "gradient") if layer.size.size])
    if len(found) < 2:
        return {}
    return _levels(found) | _depth(found) | _fall(found) | _rise(found) | _nonfinite(found)


def _levels(found: Sequence[Layer]) -> Computed:
    last = {layer.metric: layer.last for layer in found}
    known = {metric: level for metric, level in last.items() if level is not None}
    if len(known) < 2:
        return {}
    low, high = min(known, key=lambda m: known[m]), max(known, key=lambda m: known[m])
    first = [layer.first for layer in found if layer.first is not None]
    smallest = next(layer for layer in found if layer.metric == low)
    return {
        "layer_grad_count": len(known),
        "layer_grad_ratio": (ratio(known[high], known[low]), smallest.witness_at()),
        "layer_grad_first_ratio": ratio(max(first, default=None), min(first, default=None)),
        "layer_grad_min": (known[low], smallest.witness_at()),
        "layer_grad_min_metric": low,
        "layer_grad_max_metric": high,
    }


def _depth(found: Sequence[Layer]) -> Computed:
    """A straight line through log10 of the levels; layers with a zero gradient are left out."""
    levels = np.array([layer.last or np.nan for layer in found])
    at = np.flatnonzero(levels > 0)
    if at.size < MIN_POINTS:
        return {}
    y = np.log10(levels[at])
    slope, offset = np.polyfit(at, y, 1)
    spread = float(((y - y.mean()) ** 2).sum())
    left = float(((y - slope * at - offset) ** 2).sum())
    return {
        "layer_grad_depth_decades": float(-slope * (at[-1] - at[0])),
        "layer_grad_depth_fit": 1 - left / spread if spread > 0 else None,
    }


def _fall(found: Sequence[Layer]) -> Computed:
    """The layer that fell most relative to the median, because a common fall of all layers is what learning does."""
    long_enough = [layer for layer in found if layer.size.size >= MIN_POINTS and (layer.first or 0) > 0]
    if len(long_enough) < 2:
        return {}
    fell = np.array([(layer.last or 0.0) / (layer.first or np.inf) for layer in long_enough])
    relative = fell / np.median(fell) if np.median(fell) > 0 else np.where(fell > 0, np.inf, 0.0)
    worst = float(relative.min())
    candidates = [long_enough[i] for i in np.flatnonzero(relative <= np.sqrt(min(worst, 1.0)))] or [
        long_enough[int(relative.argmin())]
    ]
    places = [_crossed(layer.size, layer.first or 0.0, layer.last or 0.0) for layer in candidates]
    at, layer = min(zip(places, candidates, strict=True), key=lambda pair: int(pair[1].steps[pair[0]]))
    witness = layer.witness_at(at)
    return {
        "layer_grad_fall_ratio": (worst, witness),
        "layer_grad_fall_metric": layer.metric,
        "layer_grad_fall_step": (witness.step, witness),
    }


def _crossed(size: NDArray[np.float64], start: float, end: float) -> int:
    """The point after the last one above the geometric mean of start and end."""
    middle = np.sqrt(start * max(end, 1e-12 * start))
    above = np.flatnonzero(size > middle)
    return min(int(above[-1]) + 1, size.size - 1) if above.size else 0


def _rise(found: Sequence[Layer]) -> Computed:
    long_enough = [layer for layer in found if np.isfinite(layer.size).sum() >= MIN_POINTS]
    peaks = [(layer, *_peak(layer.size)) for layer in long_enough]
    rises = [top for _, top, _ in peaks]
    if not rises or not max(rises) > 0:
        return {}
    candidates = [(layer, at) for layer, top, at in peaks if top >= np.sqrt(max(*rises, 1.0))]
    layer, at = min(candidates or [(p[0], p[2]) for p in peaks], key=lambda pair: int(pair[0].steps[pair[1]]))
    witness = layer.witness_at(at)
    return {
        "layer_grad_rise_ratio": (max(rises), witness),
        "layer_grad_rise_metric": layer.metric,
        "layer_grad_rise_step": (witness.step, witness),
    }


def _peak(size: NDArray[np.float64]) -> tuple[float, int]:
    """The largest value relative to the median of the values before it (at least three), and the first point above the
    geometric mean of both.
    """
    at = np.flatnonzero(np.isfinite(size))
    x = size[at]
    top = int(np.argmax(x))
    usual = median(x[: max(top, 3)])
    if not usual > 0:
        return 0.0, int(at[top])
    first = int(np.flatnonzero(x >= np.sqrt(usual * x[top]))[0])
    return float(x[top] / usual), int(at[max(first, 0)])


def _nonfinite(found: Sequence[Layer]) -> Computed:
    broken = [
        (layer, int(np.flatnonzero(~np.isfinite(layer.size))[0]))
        for layer in found
        if not np.isfinite(layer.size).all()
    ]
    if not broken:
        return {"layer_grad_nonfinite_count": 0}
    layer, at = min(broken, key=lambda pair: int(pair[0].steps[pair[1]]))
    witness = layer.witness_at(at)
    return {
        "layer_grad_nonfinite_count": (len(broken), witness),
        "layer_grad_nonfinite_metric": layer.metric,
        "layer_grad_nonfinite_step": (witness.step, witness),
    }
