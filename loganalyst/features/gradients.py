"""Features of the gradient norm of the whole model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import (
    Computed,
    Context,
    event,
    event_features,
    first_level,
    last_level,
    median,
    ratio,
    witness_at,
)
from loganalyst.features.schedule import CLIP_KEYS
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

ROLE = "grad_norm"
ROLES = ("grad_norm", "grad_norm_squared")
MIN_NORMS = 20  # norms to recognise clipping or a straight line
START_POINTS = 3  # first norms, which pretrained weights or a high first loss make large
CLIP_TOLERANCE = 1e-3  # relative rounding error of a clipped norm

FEATURES = (
    Feature("grad_norm_metric", "text", "", "name of the global gradient norm", ROLE),
    Feature("grad_norm_points", "int", "points", "logged values of the gradient norm", ROLE),
    Feature("grad_norm_median", "float", "norm", "median over the run", ROLE),
    Feature("grad_norm_last", "float", "norm", "last level of the gradient norm", ROLE),
    Feature("grad_norm_max", "float", "norm", "largest finite value", ROLE),
    Feature("grad_norm_max_step", "int", "step", "step of the largest finite value", ROLE),
    Feature("grad_norm_max_ratio", "float", "ratio", "largest finite value divided by the median", ROLE),
    Feature("grad_norm_start_share", "float", "share", "largest of the first three values divided by the largest of all (1 = it was never larger later)", ROLE),
    Feature("grad_norm_late_max_ratio", "float", "ratio", "largest value after the first tenth of the run divided by the median, or by the first level where that is higher (at most ten medians)", ROLE),
    Feature("grad_norm_high_runs", "int", "events", "separate stretches after the first tenth in which the norm is above ten times its median (0 = none found)", ROLE),
    Feature("grad_norm_high_run", "int", "points", "points of the longest such stretch", ROLE),
    Feature("grad_norm_shrink_ratio", "float", "ratio", "last level divided by first level (below 1: shrinking)", ROLE),
    Feature("grad_norm_straight", "float", "", "Pearson's correlation of the norm with the step (1: a straight rise, as of gradients that are never cleared)", ROLE),
    *event_features("grad_norm_nonfinite", "run of NaN or infinite gradient norms", ROLE),
    *event_features("grad_norm_divergence", "sustained rise of the gradient norm", ROLE),
    *event_features("grad_norm_spike", "single excursion of the gradient norm", ROLE),
    Feature("grad_norm_zero_share", "float", "share", "share of values that are 0 (not known where these zeros may be small values)", ROLE),
    Feature("grad_clipped_share", "float", "share", "share of norms at or above the clipping threshold of the config; without one, share of norms at the largest value, where clipped norms would pile up", ROLE),
    Feature("grad_clipped_late_share", "float", "share", "grad_clipped_share of the second half of the run", ROLE),
    Feature("grad_norm_nonfinite_share", "float", "share", "share of logged values that are NaN or infinite", ROLE),
    Feature("grad_norm_ends_nonfinite", "bool", "", "the last logged value is NaN or infinite", ROLE),
    Feature("grad_norm_overflows", "bool", "", "each NaN or infinite value is a step that a dynamic loss scale skipped: the scale fell there, or finite norms follow the first ones", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no gradient norm is logged, or only a 0 in its place."""
    curves = context.with_role(*ROLES)
    if not curves or _is_placeholder(curves[0], context.with_role("train_loss")):
        return {}
    curve, known = _rooted(curves[0]), context.counts_as_zero(curves[0]) or bool((curves[0].values != 0).all())
    out: Computed = {
        "grad_norm_metric": curve.metric,
        "grad_norm_points": len(curve.values),
        "grad_norm_zero_share": float((curve.values == 0).mean()) if known else None,
        **_nonfinite(curve, context.with_role("train_loss")),
        "grad_norm_overflows": _overflows(curve, context.with_role("loss_scale")),
        **_levels(curve, zeros_known=known),
        **_clipped(curve, context),
    }
    for name in ("nonfinite", "divergence", "spike"):
        out |= event(f"grad_norm_{name}", True, context.findings_on(name, *ROLES))
    return out


def _nonfinite(norms: Curve, losses: Sequence[Curve]) -> Computed:
    """How many norms are not finite, and whether the last one is. A norm that is printed only where it is not finite
    (`The grad norm is nan. Skipping updating the model.`) was finite at the other steps of the loss.
    """
    bad = ~np.isfinite(norms.values)
    others = losses[0].steps[~np.isin(losses[0].steps, norms.steps)] if losses else norms.steps[:0]
    if not bad.all() or len(others) < bad.size:
        return {"grad_norm_nonfinite_share": float(bad.mean()), "grad_norm_ends_nonfinite": bool(bad[-1])}
    return {
        "grad_norm_nonfinite_share": float(bad.sum() / (bad.size + len(others))),
        "grad_norm_ends_nonfinite": bool(norms.steps[-1] > others[-1]),
    }


def _is_placeholder(norms: Curve, losses: Sequence[Curve]) -> bool:
    """Whether the norm is 0 at every step of a model that learns: then it was not computed (Megatron-LM prints 0.000)."""
    finite = norms.values[np.isfinite(norms.values)]
    if not finite.size or finite.any() or not losses:
        return False
    first, last = first_level(losses[0].values), last_level(losses[0].values)
    return (
        first is not None and last is not None and last < first - feature_limit("learned_without_gradient") * abs(first)
    )


def _overflows(norms: Curve, scales: Sequence[Curve]) -> bool:
    """Whether dynamic loss scaling explains the non-finite norms. A finite norm behind them shows that the weights are
    finite; at the end of the run a scale that fell shows that the step was skipped.
    """
    bad = ~np.isfinite(norms.values)
    if not bad.any():
        return False
    finite = np.flatnonzero(~bad)
    begins_only = bool(finite.size >= bad.sum() and not bad[finite[0] :].any())
    at_end = len(bad) - 1 - (int(finite[-1]) if finite.size else -1)
    if at_end > feature_limit("overflows_at_end") or not scales:
        return begins_only
    scale = scales[0]
    fell = scale.steps[1:][np.diff(scale.values) < 0]
    # trainers log the new scale at the skipped step, or at the next one
    before = np.searchsorted(fell, norms.steps[bad])
    after = np.append(norms.steps, np.iinfo(np.int64).max)[np.flatnonzero(bad) + 1]
    return begins_only or bool((np.searchsorted(fell, after, side="right") > before).all())


def _rooted(curve: Curve) -> Curve:
    return replace(curve, values=np.sqrt(np.abs(curve.values))) if curve.role.name == "grad_norm_squared" else curve


def _levels(curve: Curve, *, zeros_known: bool) -> Computed:
    """The levels. A last level that is 0 only by rounding is not known."""
    finite = np.flatnonzero(np.isfinite(curve.values))
    if not finite.size:
        return {}
    x = curve.values[finite]
    last = last_level(x)
    last = None if last == 0 and not zeros_known else last
    usual, top, high_ratio = median(x), int(np.argmax(x)), feature_limit("grad_norm_high")
    late = x[x.size // 10 :]
    most = witness_at(curve, int(finite[top]))
    latest = witness_at(curve, int(finite[x.size // 10 + int(np.argmax(late))]))
    return {
        "grad_norm_median": usual,
        "grad_norm_last": last,
        "grad_norm_max": (float(x[top]), most),
        "grad_norm_max_step": (most.step, most),
        "grad_norm_max_ratio": (ratio(float(x[top]), usual), most),
        "grad_norm_start_share": ratio(float(x[:START_POINTS].max()), float(x[top])),
        "grad_norm_late_max_ratio": (
            ratio(float(late.max()), max(usual, min(first_level(x) or 0.0, high_ratio * usual))),
            latest,
        ),
        "grad_norm_shrink_ratio": ratio(last, first_level(x)),
        "grad_norm_straight": _straight(curve.steps[finite].astype(np.float64), x),
        **_stretches(late > high_ratio * usual),
    }


def _straight(steps: NDArray[np.float64], x: NDArray[np.float64]) -> float | None:
    """Pearson's correlation; None for few values or a constant."""
    away, up = steps - steps.mean(), x - x.mean()
    size = float(np.linalg.norm(away) * np.linalg.norm(up))
    return float(away @ up) / size if x.size >= MIN_NORMS and np.isfinite(size) and size > 0 else None


def _stretches(high: NDArray[np.bool_]) -> Computed:
    """How often and how long the norm is high: a damaged batch makes one point, an explosion a stretch."""
    edges = np.flatnonzero(np.diff(high.astype(np.int8), prepend=0, append=0))
    lengths = edges[1::2] - edges[::2]
    return {"grad_norm_high_runs": lengths.size, "grad_norm_high_run": int(lengths.max(initial=0))}


def _clipped(curve: Curve, context: Context) -> Computed:
    """The clipped shares. Norms logged before clipping exceed the threshold; norms logged after it pile up at it."""
    x = curve.values[np.isfinite(curve.values)]
    if x.size < MIN_NORMS or not x.max() > 0:
        return {}
    threshold = context.number(*CLIP_KEYS)
    at = (threshold or float(x.max())) * (1 - CLIP_TOLERANCE)
    return {
        "grad_clipped_share": float((x >= at).mean()),
        "grad_clipped_late_share": float((x[x.size // 2 :] >= at).mean()),
    }
