"""Features of numeric range: non-finite losses of any kind, large logits, the loss scale, skipped steps."""

import re

import numpy as np

from loganalyst.features.context import Computed, Context, event_features, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature

_Z_LOSS = re.compile(r"(?:^|[^a-z])z[-_ ]?loss")  # `z_loss`, `router/z-loss` is one of experts
MIN_PENALTIES = 20  # values of a penalty
MIN_NEVER_FINITE, MIN_EVALUATIONS = 3, 2  # values of a loss, and of a held-out loss

LOSSES = (
    "rl_loss", "loss_component", "recon_loss", "kl", "quantisation_loss", "generator_loss", "discriminator_loss",
    "value_loss", "policy_loss",
)  # fmt: skip

FEATURES = (
    *event_features("other_loss_nonfinite", "loss other than the training loss that becomes NaN or infinite and stays so", "loss_component"),
    Feature("other_loss_nonfinite_metric", "text", "", "the first of these losses", "loss_component"),
    Feature("term_alone_nonfinite_metric", "text", "", "the only loss term that is NaN or infinite at the first step where a term is, while others are finite there (empty: none, or several at once)", "loss_component"),
    Feature("loss_scale_points", "int", "points", "logged values of the loss scale", "loss_scale"),
    Feature("loss_scale_first", "float", "", "first value of the loss scale", "loss_scale"),
    Feature("loss_scale_last", "float", "", "last value of the loss scale", "loss_scale"),
    Feature("loss_scale_last_ratio", "float", "ratio", "last value of the loss scale divided by its highest value", "loss_scale"),
    Feature("loss_scale_halvings", "int", "events", "number of falls of the loss scale from one value to the next", "loss_scale"),
    Feature("loss_scale_late_halvings", "int", "events", "such falls in the second half of the logged values (0: the scale found its level)", "loss_scale"),
    Feature("loss_scale_min_step", "int", "step", "first step with the lowest loss scale", "loss_scale"),
    Feature("skipped_steps", "float", "steps", "logged number of skipped optimiser steps, or of iterations with NaN", "skipped_steps"),
    Feature("skipped_share", "float", "share", "share of the steps that the optimiser skipped, by a counter that never falls and never exceeds the step", "skipped_steps"),
    Feature("output_logit_metric", "text", "", "name of the largest logit of the output", "output_logit"),
    Feature("output_logit_first", "float", "", "first level of this logit", "output_logit"),
    Feature("output_logit_highest", "float", "", "highest finite value of this logit, up to its first infinite value", "output_logit"),
    Feature("output_logit_growth", "float", "ratio", "this value divided by the first level", "output_logit"),
    Feature("z_loss_metric", "text", "", "penalty on the square of the log of the softmax's denominator", "regularisation_loss"),
    Feature("z_loss_first", "float", "", "level of this penalty after the first tenth of the run", "regularisation_loss"),
    Feature("z_loss_growth", "float", "ratio", "its level at the end divided by this level", "regularisation_loss"),
    Feature("output_logit_ends_infinite", "bool", "", "this logit ends as infinity or NaN after finite values", "output_logit"),
    Feature("never_finite_count", "int", "metrics", "losses that were logged at least three times, or evaluated at least twice, and never had a finite value", "loss_component"),
    Feature("never_finite_metric", "text", "", "the first of these losses", "loss_component"),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; a group without its metric is left out."""
    out = _losses(context) | _logits(context) | _z_loss(context)
    if curves := context.with_role("loss_scale"):
        curve = curves[0]
        finite = np.flatnonzero(np.isfinite(curve.values) & (curve.values > 0))  # Megatron-LM prints -1 for none
        if finite.size:
            x = curve.values[finite]
            low = witness_at(curve, int(finite[np.argmin(x)]))
            out |= {
                "loss_scale_points": x.size,
                "loss_scale_first": float(x[0]),
                "loss_scale_last": (float(x[-1]), witness_at(curve, int(finite[-1]))),
                "loss_scale_last_ratio": ratio(float(x[-1]), float(x.max())),
                "loss_scale_halvings": int((np.diff(x) < 0).sum()),
                "loss_scale_late_halvings": int((np.diff(x[x.size // 2 :]) < 0).sum()),
                "loss_scale_min_step": (low.step, low),
            }
    if curves := context.with_role("skipped_steps"):
        worst = max(curves, key=lambda c: float(np.nanmax(c.values, initial=0.0)))
        out["skipped_steps"] = (float(np.nanmax(worst.values, initial=0.0)), witness_at(worst, len(worst.values) - 1))
        out["skipped_share"] = _skipped_share(worst)
    return out | _never_finite(context) | _alone(context)


def _alone(context: Context) -> Computed:
    """The term that becomes non-finite alone. Bad inputs reach all terms, a logarithm of 0 only its own."""
    terms = context.with_role(*LOSSES)
    first = [
        (int(c.steps[bad[0]]), c, int(bad[0])) for c in terms if (bad := np.flatnonzero(~np.isfinite(c.values))).size
    ]
    if len(terms) < 2 or not first:
        return {"term_alone_nonfinite_metric": ""} if len(terms) > 1 else {}
    step, curve, at = min(first, key=lambda found: found[0])
    others = [c.values[c.steps == step] for c in terms if c is not curve]
    known = np.concatenate(others)
    alone = known.size > 0 and bool(np.isfinite(known).all())
    return {"term_alone_nonfinite_metric": (curve.metric, witness_at(curve, at)) if alone else ""}


def _logits(context: Context) -> Computed:
    """The largest logit of the output, up to where it stops being finite."""
    curve = next(iter(context.with_role("output_logit")), None)
    first = first_level(curve.values) if curve is not None else None
    if curve is None or first is None:
        return {}
    broken = np.flatnonzero(~np.isfinite(curve.values))
    before = curve.values[: broken[0]] if broken.size else curve.values
    if not before.size:
        return {}
    top = int(np.argmax(before))
    return {
        "output_logit_metric": curve.metric,
        "output_logit_first": first,
        "output_logit_highest": (float(before[top]), witness_at(curve, top)),
        "output_logit_growth": ratio(float(before[top]), first),
        "output_logit_ends_infinite": not bool(np.isfinite(curve.values[-1])),
    }


def _z_loss(context: Context) -> Computed:
    """The penalty on large logits, which falls early in a run: untrained logits have no fixed level."""
    curve = next((c for c in context.with_role("regularisation_loss") if _Z_LOSS.search(c.metric.lower())), None)
    x = curve.values[np.isfinite(curve.values)] if curve is not None else np.empty(0)
    if curve is None or x.size < MIN_PENALTIES:
        return {}
    first, last = first_level(x[x.size // 10 :]), last_level(x)
    return {
        "z_loss_metric": curve.metric,
        "z_loss_first": first,
        "z_loss_growth": (ratio(last, first), witness_at(curve)),
    }


def _skipped_share(counter: Curve) -> float | None:
    """The last count divided by the last step; None if the curve does not count up with the steps."""
    known = np.isfinite(counter.values)
    count, steps = counter.values[known], counter.steps[known]
    if not count.size or steps[-1] <= 0 or (np.diff(count) < 0).any() or (count > steps + 1).any():
        return None
    return float(min(count[-1] / steps[-1], 1.0))


def _never_finite(context: Context) -> Computed:
    """Losses without any finite value. An objective that is never finite trains nothing."""
    held_out = context.with_role("val_loss", "val_loss_component")
    logged = [(c, MIN_NEVER_FINITE) for c in context.with_role("train_loss", *LOSSES)]
    logged += [(c, MIN_EVALUATIONS) for c in held_out]
    if not logged:
        return {}
    never = [c.metric for c, least in logged if c.values.size >= least and not np.isfinite(c.values).any()]
    return {"never_finite_count": len(never), "never_finite_metric": never[0] if never else ""}


def _losses(context: Context) -> Computed:
    """Losses that end non-finite. Single non-finite values do not count: a term may be undefined for a batch without
    objects.
    """
    curves = context.with_role(*LOSSES)
    if not curves:
        return {}
    broken = [c for c in curves if not np.isfinite(c.values[-1]) and np.isfinite(c.values).any()]
    out: Computed = {"other_loss_nonfinite_count": len(broken)}
    if broken:
        onsets = {c.metric: int(np.flatnonzero(np.isfinite(c.values))[-1]) + 1 for c in broken}
        first = min(broken, key=lambda c: int(c.steps[onsets[c.metric]]))
        witness = witness_at(first, onsets[first.metric])
        out["other_loss_nonfinite_count"] = (len(broken), witness)
        out["other_loss_nonfinite_step"] = (witness.step, witness)
        out["other_loss_nonfinite_metric"] = first.metric
    return out
