"""Features of the tensors: dead units, weights that stand still or grow, updates relative to weights."""

from collections.abc import Sequence

import numpy as np

from loganalyst.features.context import Computed, Context, first_level, last_level, ratio, witness_at
from loganalyst.features.tensors import Layer, dense, layers, main
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

GRADIENTS, ACTIVATIONS, WEIGHTS = "histograms of gradients", "histograms of activations", "histograms of weights"
RATIO = "update_ratio"
FEATURES = (
    Feature("dead_share", "float", "share", "share of exact zeros at the end in the gradient of the layer with most zeros (without embeddings)", GRADIENTS),
    Feature("dead_share_first", "float", "share", "share of zeros in the gradient of the same layer at the start", GRADIENTS),
    Feature("dead_metric", "text", "", "this layer", GRADIENTS),
    Feature("dead_layers_share", "float", "share", "share of zeros at the end, averaged over all layers", GRADIENTS),
    Feature("silent_share", "float", "share", "share of exact zeros at the end in the activations of the layer with most zeros", ACTIVATIONS),
    Feature("silent_share_first", "float", "share", "share of zeros in the activations of the same layer at the start", ACTIVATIONS),
    Feature("silent_metric", "text", "", "this layer", ACTIVATIONS),
    Feature("weight_layers", "int", "layers", "weight tensors logged at three steps or more", WEIGHTS),
    Feature("weight_still_share", "float", "share", "share of the weight tensors that never changed", WEIGHTS),
    Feature("weight_still_metric", "text", "", "the first weight tensor that never changed", WEIGHTS),
    Feature("weight_left_out_count", "int", "layers", "weight tensors that never changed although their gradient is not 0", "histograms of weights and gradients"),
    Feature("weight_left_out_metric", "text", "", "the first of these tensors", "histograms of weights and gradients"),
    Feature("weight_growth_ratio", "float", "ratio", "last level of the norm divided by its first level, of the weight tensor that grew most", WEIGHTS),
    Feature("weight_growth_metric", "text", "", "this tensor", WEIGHTS),
    Feature("weight_norm_share", "float", "share", "last level of the norm of all weights divided by its first level", "param_norm"),
    Feature("weight_norm_metric", "text", "", "name of this norm", "param_norm"),
    Feature("update_ratio_median", "float", "ratio", "size of an update relative to the weights (median over time, median layer)", RATIO),
    Feature("update_ratio_high", "float", "ratio", "the same ratio of the layer with the largest", RATIO),
    Feature("update_ratio_high_metric", "text", "", "layer with the largest ratio", RATIO),
)  # fmt: skip
MIN_STEPS = 3  # logged steps to see whether a tensor moves
MIN_REACH = 1e-9  # largest value below which TensorBoard's zeros may be small values


def compute(context: Context) -> Computed:
    """All of FEATURES; a group whose tensors were not logged is left out."""
    gradients, weights = layers(context, "gradient"), layers(context, "weight")
    return {
        **_zero_shares("dead", main(dense(gradients))),
        **_zero_shares("silent", layers(context, "activation")),
        **_unmoved([w for w in weights if w.size.size >= MIN_STEPS], gradients),
        **_growth(main(weights)),
        **_norm(context),
        **_updates(context),
    }


def _zero_shares(name: str, found: Sequence[Layer]) -> Computed:
    shares = {}
    for layer in found:
        zeros = np.where((layer.reach > MIN_REACH) | (layer.reach == 0), layer.zeros, np.nan)
        share = last_level(zeros)
        if share is not None:
            shares[layer.metric] = (share, float(zeros[np.isfinite(zeros)][0]), layer)
    if not shares:
        return {}
    metric = max(shares, key=lambda m: shares[m][0])
    share, first, layer = shares[metric]
    out: Computed = {
        f"{name}_share": (share, layer.witness_at(layer.size.size - 1)),
        f"{name}_share_first": first,
        f"{name}_metric": metric,
    }
    return out | ({"dead_layers_share": float(np.mean([s for s, *_ in shares.values()]))} if name == "dead" else {})


def _unmoved(weights: Sequence[Layer], gradients: Sequence[Layer]) -> Computed:
    """Weights that never changed: mean, spread and extremes are equal at all steps, to the last bit."""
    if not weights:
        return {}
    still = [w for w in weights if (w.moments == w.moments[0]).all()]
    out: Computed = {"weight_layers": len(weights), "weight_still_share": len(still) / len(weights)}
    if still:
        out["weight_still_metric"] = (still[0].metric, still[0].witness_at())
    pushed = {g.tensor for g in gradients if np.nanmedian(g.size, keepdims=True)[0] > 0}
    if known := {g.tensor for g in gradients} & {w.tensor for w in weights}:
        left_out = [w for w in still if w.tensor in pushed & known]
        out["weight_left_out_count"] = len(left_out)
        if left_out:
            out["weight_left_out_metric"] = (left_out[0].metric, left_out[0].witness_at())
    return out


def _growth(weights: Sequence[Layer]) -> Computed:
    measured = [w for w in weights if w.size.size >= MIN_STEPS and (w.first or 0) > 0 and w.last is not None]
    if not measured:
        return {}
    grew = max(measured, key=lambda w: (w.last or 0.0) / (w.first or np.inf))
    return {
        "weight_growth_ratio": (ratio(grew.last, grew.first), grew.witness_at(grew.size.size - 1)),
        "weight_growth_metric": grew.metric,
    }


def _norm(context: Context) -> Computed:
    """How much is left of the norm of all weights, of the first curve with a level at both ends."""
    for curve in (c for c in context.with_role("param_norm") if c.values.size >= feature_limit("norm_points")):
        left = ratio(last_level(curve.values), first_level(curve.values))
        if left is not None:
            return {"weight_norm_share": (left, witness_at(curve, -1)), "weight_norm_metric": curve.metric}
    return {}


def _updates(context: Context) -> Computed:
    """Logged ratios, or their log10 (below 0), or norms of updates divided by norms of weights."""
    medians = {}
    for curve in context.with_role(RATIO):
        values = _ratios(curve, context)
        finite = values[np.isfinite(values)]
        if finite.size >= MIN_STEPS:
            medians[curve.metric] = (float(np.median(finite)), witness_at(curve))
    if not medians:
        return {}
    high = max(medians, key=lambda m: medians[m][0])
    return {
        "update_ratio_median": float(np.median([m for m, _ in medians.values()])),
        "update_ratio_high": medians[high],
        "update_ratio_high_metric": high,
    }


def _ratios(curve: Curve, context: Context) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = curve.values
    if "norm" in curve.metric.lower() and "ratio" not in curve.metric.lower():
        weights = [c for c in context.with_role("param_norm") if np.array_equal(c.steps, curve.steps)]
        return values / np.where(weights[0].values > 0, weights[0].values, np.nan) if weights else np.full(0, np.nan)
    return 10.0**values if np.nanmedian(values) < 0 else values
