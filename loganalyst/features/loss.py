"""Features of the training loss: events on any of its curves, and the shape of the longest one."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from loganalyst.features.beginning import begins_late, is_continued, unless_late
from loganalyst.features.context import (
    Computed,
    Context,
    event,
    event_features,
    first_level,
    logged_near,
    lowest_index,
    median,
    minus,
    ratio,
    witness_at,
)
from loganalyst.model import Curve, Feature
from loganalyst.signals.standarderror import since_z, whole_z

ROLE = "train_loss"
MIN_SHAPE_POINTS = 4
MIN_SHARE_POINTS = 3  # values of which a share means something

FEATURES = (
    Feature("train_loss_metric", "text", "", "name of the training loss", ROLE),
    Feature("train_loss_points", "int", "points", "logged values of the training loss", ROLE),
    Feature("train_loss_first", "float", "loss", "first level of the training loss, unless logging began late", ROLE),
    Feature("train_loss_last", "float", "loss", "last level of the training loss", ROLE),
    Feature("train_loss_best", "float", "loss", "lowest logged value", ROLE),
    Feature("train_loss_best_step", "int", "step", "step of the lowest logged value", ROLE),
    Feature("train_loss_best_share", "float", "share", "position in the run at which the smoothed loss is lowest (0 = start, 1 = end)", ROLE),
    *event_features("train_loss_nonfinite", "run of NaN or infinite training losses", ROLE),
    Feature("train_loss_nonfinite_metric", "text", "", "training loss with the most NaN or infinite values", ROLE),
    Feature("train_loss_nonfinite_when", "text", "", "when a training loss was first not finite: `at step 40`, or `after step 40` where that step has a finite value, too", ROLE),
    Feature("train_loss_nonfinite_runs", "int", "runs", "separate stretches of NaN or infinite values", ROLE),
    Feature("train_loss_nonfinite_share", "float", "share", "share of logged values that are NaN or infinite (at least three values)", ROLE),
    Feature("train_loss_last_finite_step", "int", "step", "step of the last finite value before the first NaN", ROLE),
    Feature("train_loss_ends_nonfinite", "bool", "", "the last logged value is NaN or infinite", ROLE),
    Feature("train_loss_finite_before", "int", "points", "finite values before the first non-finite one", ROLE),
    Feature("train_loss_run_up_ratio", "float", "ratio", "last finite values before the first NaN, divided by the upper end (90 %) of those before (at most 1: no rise)", ROLE),
    Feature("train_loss_nonfinite_level_ratio", "float", "ratio", "last finite values before the first NaN, divided by the first level", ROLE),
    *event_features("train_loss_divergence", "sustained rise of the training loss above its best level, up to the end", ROLE),
    Feature("train_loss_rise_ratio", "float", "ratio", "last level divided by lowest level (positive losses only)", ROLE),
    Feature("train_loss_rise_z", "float", "standard errors", "change from the twentieth around the lowest level to the last tenth, in standard errors", ROLE),
    *event_features("train_loss_spike", "single upward excursion of the training loss", ROLE),
    Feature("train_loss_spike_recovered", "bool", "", "the loss returned to its trend after the largest excursion", ROLE),
    *event_features("train_loss_periodic", "train of spikes at equal distances", ROLE),
    *event_features("train_loss_level_up", "lasting upward jump of the training loss", ROLE),
    *event_features("train_loss_plateau", "stretch without progress up to the end", ROLE),
    Feature("train_loss_plateau_share", "float", "share", "share of the points that lie on the final plateau", ROLE),
    Feature("train_loss_drop_relative", "float", "share", "fall from first to last level as a share of the first level", ROLE),
    Feature("train_loss_start_ratio", "float", "ratio", "first finite value divided by the first level (the median of the first three values)", ROLE),
    Feature("train_loss_drop_z", "float", "standard errors", "fall from the first tenth to the last third, in standard errors", ROLE),
    Feature("train_loss_drop_error", "float", "share", "standard error of the fall of a straight line fitted to all values, as a share of the first level", ROLE),
    Feature("train_loss_half_drop_relative", "float", "share", "fall over the second half of the points relative to the level in the middle", ROLE),
    Feature("train_loss_late_fall_share", "float", "share", "share of the fall from the first to the last level that came in the second half of the points (0.5: in a straight line)", ROLE),
    Feature("train_loss_tail_slope", "float", "share", "change over the last 30 % relative to its level (negative = falling)", ROLE),
    Feature("train_loss_tail_slope_z", "float", "standard errors", "change over the last 30 %, in standard errors", ROLE),
    Feature("train_loss_tail_cv", "float", "share", "spread of the last 30 % relative to its level", ROLE),
    Feature("train_loss_swing_count", "int", "swings", "upward swings after the first fifth of the run, larger than the jitter", ROLE),
    Feature("train_loss_swing_relative", "float", "share", "typical size of these swings relative to the level", ROLE),
    Feature("train_loss_noise_relative", "float", "share", "noise relative to the last level", ROLE),
    Feature("train_loss_continued", "bool", "", "a log says before the first value that the training continues from a checkpoint", ROLE),
    Feature("train_loss_begins_late", "bool", "", "most of the steps or epochs had passed before the first logged value, so the total fall is not known", ROLE),
    Feature("train_loss_negative_share", "float", "share", "share of the values below 0", ROLE),
    Feature("train_loss_end_ratio", "float", "ratio", "lower of the last two values divided by the first value", ROLE),
    Feature("train_loss_burst_ratio", "float", "ratio", "largest value after the loss first reached its median, divided by that median (at least 0.001)", ROLE),
    Feature("train_loss_constant_share", "float", "share", "share of the last half that equals the last value (not known where rounded values repeat by chance)", ROLE),
    Feature("train_loss_early_max_ratio", "float", "ratio", "largest value of the first fifth divided by the first level, or by the first value if that is higher", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing where no training loss is logged."""
    curves = context.with_role(ROLE)
    if not curves:
        return {}
    curve, worst = curves[0], max(curves, key=lambda c: int((~np.isfinite(c.values)).sum()))
    out: Computed = {"train_loss_metric": curve.metric, "train_loss_points": len(curve.values)}
    out |= event("train_loss_nonfinite", True, context.findings_on("nonfinite", ROLE))
    for name in ("divergence", "spike", "periodic", "level_up", "plateau"):
        out |= event(f"train_loss_{name}", len(curve.values) >= MIN_SHAPE_POINTS, context.findings_on(name, ROLE))
    out |= _nonfinite(worst) | _shape(context, curve) | _levels(curve)
    return out | _when(worst, curves)


def _nonfinite(curve: Curve) -> Computed:
    bad = ~np.isfinite(curve.values)
    out: Computed = {
        "train_loss_nonfinite_runs": int(np.count_nonzero(np.diff(bad.astype(np.int8), prepend=0) == 1)),
        "train_loss_nonfinite_share": float(bad.mean()) if bad.size >= MIN_SHARE_POINTS else None,
        "train_loss_ends_nonfinite": bool(bad[-1]),
    }
    if not bad.any():
        return out
    onset = int(np.argmax(bad))
    before = curve.values[:onset]
    out["train_loss_nonfinite_metric"] = (curve.metric, witness_at(curve, onset))
    out["train_loss_finite_before"] = (onset, witness_at(curve, onset))
    if onset:
        out["train_loss_last_finite_step"] = (witness_at(curve, onset - 1).step, witness_at(curve, onset - 1))
    if onset >= 8:
        usual = float(np.quantile(before[-63:-3], 0.9))
        run_up = ratio(float(np.median(before[-3:])), usual) if usual > 0 else None
        out["train_loss_run_up_ratio"] = (run_up, witness_at(curve, onset - 1))
        out["train_loss_nonfinite_level_ratio"] = ratio(float(np.median(before[-10:])), first_level(before) or 0.0)
    return out


def _when(curve: Curve, curves: Sequence[Curve]) -> Computed:
    """When a loss was first not finite. A line such as `Loss is nan, stopping` has no step of its own: it gets that of
    the last row, whose `loss` may be finite.
    """
    bad = np.flatnonzero(~np.isfinite(curve.values))
    if not bad.size:
        return {}
    step, seen = int(curve.steps[bad[0]]), witness_at(curve, int(bad[0]))
    same = [c for c in curves if c is not curve and c.metric.casefold() == curve.metric.casefold()]
    finite = [c.steps[np.isfinite(c.values)] for c in same] + [curve.steps[: bad[0]]]
    until = [int(f[f <= step].max()) for f in finite if (f <= step).any()]
    when: Computed = {"train_loss_nonfinite_when": (f"{'after' if step in until else 'at'} step {step:,}", seen)}
    return when | ({"train_loss_last_finite_step": max(until)} if until and bad[0] == 0 else {})


def _shape(context: Context, curve: Curve) -> Computed:
    shape = context.shape(curve)
    lowest = lowest_index(curve.values)
    best = witness_at(curve, lowest)
    first, finite = first_level(curve.values), curve.values[np.isfinite(curve.values)]
    fall = None if first is None or shape.last is None else ratio(first - shape.last, abs(first))
    return {
        "train_loss_last": logged_near(curve.values, shape.last),
        "train_loss_best": (None if lowest is None else float(curve.values[lowest]), best),
        "train_loss_best_step": (best.step, best),
        "train_loss_best_share": _place(curve, shape.best_index),
        "train_loss_rise_ratio": shape.rise_ratio,
        "train_loss_rise_z": since_z(curve.values, shape.best_index),
        "train_loss_spike_recovered": shape.recovered,
        "train_loss_plateau_share": _flat_share(context, curve),
        "train_loss_tail_slope": shape.tail_slope,
        "train_loss_tail_slope_z": shape.tail_slope_z,
        "train_loss_tail_cv": shape.tail_cv,
        "train_loss_swing_count": shape.swing_count,
        "train_loss_swing_relative": shape.swing_relative,
        "train_loss_noise_relative": ratio(shape.noise, abs(shape.last) if shape.last is not None else None),
        "train_loss_constant_share": shape.constant_share,
        **_ends_and_bursts(curve, context.quantum(curve)),
        "train_loss_begins_late": begins_late(curve),
        "train_loss_continued": is_continued(context, curve),
        **unless_late(curve, {
            "train_loss_drop_relative": fall,
            "train_loss_start_ratio": ratio(float(finite[0]) if finite.size else None, first),
            "train_loss_drop_z": minus(whole_z(curve.values)),
            "train_loss_drop_error": _drop_error(shape.noise, first, finite.size),
        }),
    }  # fmt: skip


def _place(curve: Curve, index: int | None) -> float | None:
    """The position of a point between the first step (0) and the last (1)."""
    if index is None:
        return None
    return ratio(float(curve.steps[index] - curve.steps[0]), float(curve.steps[-1] - curve.steps[0]))


def _drop_error(noise: float | None, first: float | None, points: int) -> float | None:
    """Standard error of the drop of a line fitted to `points` equidistant values: sqrt(12 / n) times the noise."""
    return None if noise is None or not first else noise * float(np.sqrt(12 / points)) / abs(first)


def _ends_and_bursts(curve: Curve, step: float) -> Computed:
    """Features that are known for short losses too, if they are never negative."""
    finite = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[finite]
    if x.size < MIN_SHAPE_POINTS or x.min() < 0:
        return {}
    usual = median(x)
    down = int(np.argmax(x <= usual))
    top = down + int(np.argmax(x[down:]))
    return {
        "train_loss_end_ratio": ratio(float(x[-2:].min()), float(x[0])),
        "train_loss_burst_ratio": (
            (float(x[top]) - step / 2) / max(usual + step / 2, 1e-3),
            witness_at(curve, int(finite[top])),
        ),
    }


def _flat_share(context: Context, curve: Curve) -> float | None:
    """Share of the points after the onset of the final plateau: the earlier of the shape's and the finding's."""
    flat = context.shape(curve).plateau_index
    found = context.findings_on("plateau", ROLE).filter(pl.col("metric") == curve.metric)
    onsets = [flat] if flat is not None else []
    if found.height:
        onsets.append(int(np.searchsorted(curve.steps, found["step"][-1])))
    return 1 - min(onsets) / len(curve.values) if onsets else 0.0


def _levels(curve: Curve) -> Computed:
    finite = np.flatnonzero(np.isfinite(curve.values))
    if finite.size < 8:
        return {}
    x = curve.values[finite]
    n = x.size
    first, middle = median(x[: max(3, n // 20)]), median(x[int(0.4 * n) : int(0.6 * n)])
    last = median(x[int(0.8 * n) :])
    fifth = np.searchsorted(finite, len(curve.values) // 5)  # a fifth of the run, not of the finite values
    early = int(np.argmax(x[: max(3, fifth)]))
    witness = witness_at(curve, int(finite[early]))
    return {
        **unless_late(curve, {"train_loss_first": first_level(curve.values)}),
        **unless_late(curve, {"train_loss_half_drop_relative": ratio(middle - last, abs(middle))}),
        "train_loss_negative_share": float(np.mean(x < 0)),
        **unless_late(
            curve, {"train_loss_late_fall_share": ratio(middle - last, first - last) if last < first else None}
        ),
        "train_loss_early_max_ratio": (ratio(float(x[early]), max(first, float(x[0]))), witness) if first > 0 else None,
    }
