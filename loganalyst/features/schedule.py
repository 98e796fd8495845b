"""Features of the learning rate and of the settings of the optimisation."""

import numpy as np

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, Value, first_level, last_level, ratio, witness_at
from loganalyst.model import Curve, Feature, Witness
from loganalyst.thresholds import feature_limit

ROLE = "learning_rate"
MIN_POINTS_BEFORE_CUT = 5  # losses before a cut of the rate for a level
MIN_EVALUATIONS, MIN_STALL_CUTS = 4, 2  # to see that a rate follows the held-out loss
CONSTANT = "constant"  # a schedule without a peak
LINEAR = "linear"  # a schedule that falls in a line, usually to 0

FEATURES = (
    Feature("lr_metric", "text", "", "name of the learning rate", ROLE),
    Feature("lr_points", "int", "points", "logged values of the learning rate", ROLE),
    Feature("lr_peak", "float", "rate", "highest learning rate: logged, otherwise from the config", ROLE),
    Feature("lr_known", "bool", "", "a learning rate is logged or in the config", "points"),
    Feature("lr_suggested", "float", "rate", "a third of lr_peak", ROLE),
    Feature("lr_raised", "float", "rate", "ten times lr_peak", ROLE),
    Feature("lr_warmup_share", "float", "share", "share of the run until the rate reaches 95 % of its peak (0 = no warm-up)", ROLE),
    Feature("lr_kind", "text", "", "shape of the schedule: constant, warmup_constant, linear, cosine, one_cycle, exponential, inverse_sqrt, step, other (of its first cycle)", ROLE),
    Feature("lr_last_share", "float", "share", "last rate as a share of the peak", ROLE),
    Feature("lr_decay_done_share", "float", "share", "share of a linear decay that was done, if it leads to 0 (NULL: the rate does not fall in a line)", ROLE),
    Feature("lr_restart_count", "int", "restarts", "number of rises by a quarter of the peak or more after the rate had fallen below half of its peak", ROLE),
    Feature("lr_jump_count", "int", "events", "sudden rises by a quarter of the peak or more after the warm-up", ROLE),
    Feature("lr_jump_step", "int", "step", "step of the first such rise", ROLE),
    Feature("lr_jump_ratio", "float", "ratio", "rate after the first such rise divided by the rate before it", ROLE),
    Feature("lr_exhausted_count", "int", "events", "1 if the rate stays below a thousandth of its peak for the last tenth of the run or longer, otherwise 0", ROLE),
    Feature("lr_exhausted_step", "int", "step", "step from which the rate stays below a thousandth of its peak", ROLE),
    Feature("lr_exhausted_share", "float", "share", "share of the run after that step", ROLE),
    Feature("lr_at_divergence_share", "float", "share", "rate as a share of its peak where the training loss diverged or became non-finite (NULL: the rate is constant)", ROLE),
    Feature("lr_cut_at_share", "float", "share", "position in the run of the first sudden cut of the rate by 30 % or more (0 = start, 1 = end)", ROLE),
    Feature("lr_cut_gain_share", "float", "share", "share of the fall of the training loss that came after this cut", ROLE),
    Feature("lr_cut_interval", "float", "steps", "steps between neighbouring cuts of the rate by 30 % or more, if there are three or more at equal distances and the rate is constant between them", ROLE),
    Feature("lr_cut_on_stall", "bool", "", "each of two or more cuts follows an evaluation that did not improve, and evaluations that improved were followed by none", ROLE),
    Feature("optimizer", "text", "", "name of the optimiser, lower case", "config"),
    Feature("optimizer_is_sgd", "bool", "", "the config names SGD (false: another optimiser, or none)", "learning_rate"),
    Feature("config_clip", "float", "norm", "gradient clipping threshold in the config (0 = off)", "config"),
    Feature("config_precision", "text", "", "numeric precision in the config, lower case", "config"),
)  # fmt: skip

_RATE_KEYS = ("learning_rate", "lr", "base_lr", "max_lr", "lr0", "base_learning_rate", "init_lr", "peak_lr")
CLIP_KEYS = (
    "max_grad_norm",
    "gradient_clip_val",
    "grad_clip",
    "clip_grad",
    "clip_grad_norm",
    "clip",
    "gradient_clipping",
    "clip_norm",
)
_PRECISION_SWITCHES, _ON = ("bf16", "fp16"), ("true", "1", "yes", "on")
_PRECISION_KEYS = ("precision", "dtype", "mixed_precision", "amp_dtype", "torch_dtype")


def compute(context: Context) -> Computed:
    """All of FEATURES."""
    curve, peak = _rate(context), peak_rate(context)
    out: Computed = {"lr_peak": peak, "lr_known": peak is not None, **_settings(context)}
    if curve is not None:
        out |= _logged(context, curve)
    if peak is not None:
        out["optimizer_is_sgd"] = "sgd" in str(out["optimizer"])
    if peak is not None and peak > 0:
        out |= {"lr_suggested": peak / 3, "lr_raised": peak * 10}
    return out


def peak_rate(context: Context) -> float | None:
    """The highest learning rate: logged, otherwise from the config; None where neither is known."""
    curve, configured = _rate(context), context.number(*_RATE_KEYS)
    return configured if curve is None else context.schedule(curve).peak


def _rate(context: Context) -> Curve | None:
    """The longest curve of a learning rate, of several the one with the highest value. None for `0.0000` throughout:
    rounded, it is not known.
    """
    curves = [c for c in context.with_role(ROLE) if np.isfinite(c.values).any()]
    curve = max(curves, key=lambda c: (len(c.values), float(np.nanmax(c.values))), default=None)
    return curve if curve is None or curve.values.any() or not context.quantum(curve) else None


def _logged(context: Context, curve: Curve) -> Computed:
    plan = context.schedule(curve)
    at = Witness(curve.metric, plan.exhausted_step, curve.source)
    span = float(curve.steps[-1] - curve.steps[0])
    left = None if plan.exhausted_step is None or span <= 0 else float(curve.steps[-1] - plan.exhausted_step) / span
    return {
        "lr_metric": curve.metric,
        "lr_points": len(curve.values),
        "lr_peak": (plan.peak, Witness(curve.metric, plan.peak_step, curve.source)) if plan.peak else plan.peak,
        "lr_warmup_share": plan.warmup_share,
        "lr_kind": plan.kind,
        "lr_last_share": plan.final_ratio,
        "lr_decay_done_share": _decay_done(curve) if plan.kind == LINEAR else None,
        "lr_restart_count": plan.restarts,
        **_jump(curve, plan.jump_steps, plan.jump_ratio),
        "lr_exhausted_count": None if plan.peak and plan.final_ratio is None else int(plan.exhausted_step is not None),
        "lr_exhausted_step": (plan.exhausted_step, at),
        "lr_exhausted_share": left,
        **_cut(context, curve, plan.drop_steps),
        "lr_at_divergence_share": None if plan.kind == CONSTANT else _at_trouble(context, curve, plan.peak),
    }


def _decay_done(curve: Curve) -> float | None:
    """The last step as a share of the step at which the line through the peak and the last rate reaches 0."""
    peak, last = int(np.nanargmax(curve.values)), float(curve.values[-1])
    fallen, span = float(curve.values[peak]) - last, float(curve.steps[-1] - curve.steps[peak])
    left = ratio(last * span, fallen) if fallen > 0 else None
    return None if left is None else ratio(float(curve.steps[-1]), float(curve.steps[-1]) + left)


def _jump(curve: Curve, jumps: tuple[int, ...], rise: float | None) -> Computed:
    if not jumps:
        return {"lr_jump_count": 0}
    witness = Witness(curve.metric, jumps[0], curve.source)
    return {
        "lr_jump_count": (len(jumps), witness),
        "lr_jump_step": (jumps[0], witness),
        "lr_jump_ratio": (rise, witness),
    }


def _cut(context: Context, curve: Curve, drops: tuple[int, ...]) -> Computed:
    """The share of the fall of the training loss that came after the first sudden cut of the rate."""
    losses = context.with_role("train_loss")
    counted: Computed = {
        "lr_cut_interval": _interval(curve),
        "lr_cut_on_stall": _on_stall(context, curve),
    }
    if not drops or not losses or curve.steps[-1] <= curve.steps[0]:
        return counted
    out: Computed = counted | {
        "lr_cut_at_share": float((drops[0] - curve.steps[0]) / (curve.steps[-1] - curve.steps[0]))
    }
    before = losses[0].values[losses[0].steps < drops[0]]
    first, cut, last = first_level(before), last_level(before), last_level(losses[0].values)
    if before.size >= MIN_POINTS_BEFORE_CUT and first is not None and cut is not None and last is not None:
        first = max(first, float(before[np.isfinite(before)][0]))  # few values: the fall may lie within the first level
        share = ratio(cut - last, first - last) if first > last else None
        out["lr_cut_gain_share"] = (share, Witness(curve.metric, drops[0], curve.source))
    return out


def _interval(curve: Curve) -> float | None:
    """The steps between cuts; None for fewer than three, for unequal distances, or for a rate that moves between them.
    Cuts between all values in turn are logged no oftener than they come: their distance is that of the values.
    """
    x = curve.values
    cut = x[1:] < (1 - feature_limit("rate_cut")) * x[:-1]
    between = np.diff(curve.steps[1:][cut])
    if between.size < feature_limit("equal_cuts") - 1 or between.max() > feature_limit("cuts_uneven") * between.min():
        return None
    if between.min() <= np.diff(curve.steps).min():
        return None
    return float(np.median(between)) if np.allclose(x[1:][~cut], x[:-1][~cut], rtol=1e-3, atol=0) else None


def _on_stall(context: Context, curve: Curve) -> bool | None:
    """Whether the rate is cut only after evaluations without an improvement, as by ReduceLROnPlateau."""
    held_out = next((c for c in context.with_role("val_loss") if c.values.size >= MIN_EVALUATIONS), None)
    if held_out is None or not np.isfinite(held_out.values).all():
        return None
    steps, rate_steps = (axes.common_axis(curve, held_out, context.with_role("epoch"))[i] for i in (1, 0))
    improved = held_out.values < np.minimum.accumulate(np.append(np.inf, held_out.values[:-1]))
    at = np.maximum(np.searchsorted(rate_steps, steps, side="right") - 1, 0)
    before, after = curve.values[at], np.append(curve.values[at[1:]], curve.values[-1])
    cut = after < (1 - feature_limit("rate_cut")) * before
    if not np.allclose(after[~cut], before[~cut], rtol=1e-3, atol=0):
        return False  # the rate follows a plan
    return bool(cut.sum() >= MIN_STALL_CUTS and improved.sum() >= MIN_STALL_CUTS and not (cut & improved).any())


def _at_trouble(context: Context, curve: Curve, peak: float | None) -> Value:
    onsets = [context.findings_on(kind, "train_loss")["step"].min() for kind in ("divergence", "nonfinite")]
    onset = min((int(s) for s in onsets if isinstance(s, int)), default=None)
    if onset is None or not peak:
        return None
    at = max(int(np.searchsorted(curve.steps, onset, side="right")) - 1, 0)
    return ratio(float(curve.values[at]), peak), witness_at(curve, at)


def _settings(context: Context) -> Computed:
    def lower(*keys: str) -> str | None:
        value = context.text(*keys)
        return None if value is None else value.lower()[:40]

    return {
        "optimizer": lower(
            "optimizer.name", "optimizer.type", "optimizer.method", "optimizer._target_", "optim", "optimizer"
        ),
        "config_clip": context.number(*CLIP_KEYS),
        "config_precision": lower(*_PRECISION_KEYS) or _switched_on(context),
    }


def _switched_on(context: Context) -> str | None:
    """The precision that a switch named after it turns on: `bf16: true` of Hugging Face's TrainingArguments."""
    return next((key for key in _PRECISION_SWITCHES if (context.text(key) or "").strip().lower() in _ON), None)
