"""When each judged metric left its usual course, which one moved first, and how sure the order is.

An onset is known within an interval: after the last usual point, and no later than the first point clearly beyond. The
interval is wide where points are rare, noise is high or the curve departs slowly.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, median
from loganalyst.features.run import COUNTERS
from loganalyst.model import Curve, Feature, Onset, Witness

HARMFUL_KINDS = ("nonfinite", "divergence", "level_up")  # kinds of findings that are for the worse
UNIQUE_ROLES = (
    "train_loss",
    "grad_norm",
    "grad_norm_squared",
    "learning_rate",
)  # roles of which a run has only one metric
WARM_UP = 0.05  # share of the run in which a rising learning rate is intended
FINDING_ERROR = 0.05  # uncertainty of the place of a finding, as a share of the curve
MIN_USUAL_POINTS = 5  # points for the usual course
MIN_BLOCKS = 400  # a longer curve is reduced to at least so many medians
SMALL_SAMPLE = 4.0  # the noise of n points is widened by the factor 1 + 4/n
MAX_USUAL, MIN_BEYOND = 2.0, 4.0  # noise units up to which a point is usual, and above which it is beyond
SPEED_POINTS = 20  # points after the first one beyond that show how fast the curve moves on
NEXT_POINTS = 3  # points for the speed of a quick rise
LASTING_POINTS = 5  # points whose median must stay beyond
MAX_SPAN_RATIO = 20  # ratio of the spans of two step counters above which they count different things

NEEDS = "two judged metrics"
FEATURES = (
    Feature("onset_count", "int", "metrics", "judged metrics that left their usual course for the worse (0 = none found)", NEEDS),
    Feature("onset_first_metric", "text", "", "the metric that moved first", NEEDS),
    Feature("onset_first_role", "text", "", "role of this metric", NEEDS),
    Feature("onset_first_step", "int", "step", "step of its onset", NEEDS),
    Feature("onset_first_confidence", "float", "probability", "probability that it moved before all others, given how often each was logged", NEEDS),
    Feature("train_loss_onset_step", "int", "step", "first step at which the training loss is no longer on its usual course", "train_loss"),
    Feature("rate_first_confidence", "float", "probability", "probability that the learning rate jumped before the training loss moved", "learning_rate"),
    Feature("rate_first_step", "int", "step", "step at which the learning rate jumped", "learning_rate"),
    Feature("grad_first_confidence", "float", "probability", "probability that the gradient norm moved before the training loss", "grad_norm"),
    Feature("grad_first_steps", "int", "steps", "steps from the onset of the gradient norm to that of the training loss (negative: it came after)", "grad_norm"),
    Feature("term_first_confidence", "float", "probability", "probability that a term of the loss moved before the training loss, or with it and before all other terms", "loss_component"),
    Feature("term_first_metric", "text", "", "the term that moved first", "loss_component"),
    Feature("term_first_step", "int", "step", "step at which this term moved", "loss_component"),
    Feature("data_first_confidence", "float", "probability", "probability that the data time rose before the run became slower", "data_time"),
    Feature("data_first_step", "int", "step", "step at which the data time rose", "data_time"),
)  # fmt: skip
_TERMS = ("loss_component", "recon_loss", "kl", "quantisation_loss")
_GRADIENTS = ("grad_norm", "grad_norm_squared", "layer_grad_norm")
_SPEED = ("throughput", "step_time")


def compute(context: Context) -> Computed:
    """All of FEATURES; those of a pair only if both moved."""
    found = onsets(context)
    loss = _first_with_role(found, "train_loss")
    alone: Computed = {} if loss is None else {"train_loss_onset_step": (loss.step, _witness(loss))}
    if len([c for c in context.curves if c.role.judged and len(c.values)]) < 2:
        return alone
    if not found:
        return {"onset_count": 0}
    first, others = found[0], found[1:]
    out: Computed = alone | {
        "onset_count": len(found),
        "onset_first_metric": (first.metric, _witness(first)),
        "onset_first_role": first.role,
        "onset_first_step": (first.step, _witness(first)),
    }
    if others:
        out["onset_first_confidence"] = min(first.before(other) for other in others)
    return out | _compared_with_loss(found) | _compared_with_speed(found)


def _compared_with_loss(found: Sequence[Onset]) -> Computed:
    """The onsets of rate, gradient and terms compared with that of the training loss."""
    loss = _first_with_role(found, "train_loss")
    if loss is None:
        return {}
    out: Computed = {}
    if rate := _first_with_role(found, "learning_rate"):
        out |= {"rate_first_confidence": (rate.before(loss), _witness(rate)), "rate_first_step": rate.step}
    if grad := _first_with_role(found, *_GRADIENTS):
        out |= {"grad_first_confidence": (grad.before(loss), _witness(grad)), "grad_first_steps": loss.step - grad.step}
    if term := _first_with_role(found, *_TERMS):
        rivals = [o for o in found if o.role in _TERMS and o.metric != term.metric]
        together = 2 * term.before(loss)  # 0.5 means at the same time, as a total moves with its term
        out |= {
            "term_first_confidence": (min(0.99, together, *(term.before(o) for o in rivals)), _witness(term)),
            "term_first_metric": term.metric,
            "term_first_step": term.step,
        }
    return out


def _compared_with_speed(found: Sequence[Onset]) -> Computed:
    """The onset of the data time compared with that of the speed."""
    data, speed = _first_with_role(found, "data_time"), _first_with_role(found, *_SPEED)
    if data is None or speed is None:
        return {}
    return {"data_first_confidence": (data.before(speed), _witness(data)), "data_first_step": data.step}


def _first_with_role(found: Sequence[Onset], *roles: str) -> Onset | None:
    return next((o for o in found if o.role in roles), None)


def _witness(onset: Onset) -> Witness:
    return Witness(onset.metric, onset.step, onset.file)


def onsets(context: Context) -> tuple[Onset, ...]:
    """The first onset of every judged metric that had one, in order, on the step axis of the metric with most points.

    A metric that counts its steps in another unit is placed by its times; without times it is left out. Of a role with
    one metric per run, the earliest of its logged copies counts.
    """
    main = _main(context.curves)
    if main is None:
        return ()
    curves = {c.metric: c for c in context.curves}
    found = [
        _onset(curves[row["metric"]], row, main)
        for row in context.findings.sort("step", maintain_order=True).iter_rows(named=True)
        if row["kind"] in HARMFUL_KINDS and row["metric"] in curves
    ]
    first: dict[str, Onset] = {}
    for onset in sorted((o for o in found if o is not None), key=lambda o: (o.step, o.metric)):
        first.setdefault(onset.role if onset.role in UNIQUE_ROLES else onset.metric, onset)
    return tuple(first.values())


def _main(curves: Sequence[Curve]) -> Curve | None:
    """The judged curve with most points."""
    judged = [c for c in curves if c.role.judged and c.role.name not in COUNTERS and len(c.values)]
    return max(judged, key=lambda c: len(c.values), default=None)


def _onset(curve: Curve, row: dict[str, object], main: Curve) -> Onset | None:
    """The onset that belongs to the finding `row`."""
    at = int(np.searchsorted(curve.steps, int(str(row["step"]))))
    if at >= curve.steps.size or curve.steps[at] != row["step"]:
        return None
    rate = curve.role.name == "learning_rate"
    if rate and at < WARM_UP * curve.steps.size:
        return None
    calm, low, high = (at - 1, at - 1, at) if row["kind"] == "nonfinite" else _bracket(curve, at)
    axis = _axis(curve, main)
    if axis is None:
        return None
    return Onset(
        metric=curve.metric,
        role=curve.role.name,
        kind=str(row["kind"]),
        session=int(curve.sessions[at]),
        step=int(axis[min(calm + 1, axis.size - 1)]),
        low=float(axis[low] if low >= 0 else axis[0] - 1),
        high=float(axis[high]),
        found=int(curve.steps[at]),
        file=curve.source,
    )


def _bracket(curve: Curve, at: int) -> tuple[int, int, int]:
    """Positions: the last usual point, the earliest possible onset, and the first point beyond.

    The usual course is the level right before the finding, continued with its slope if it was rising. Long curves are
    reduced to medians. A curve that takes long from usual to beyond may have departed earlier by the same distance.
    """
    sign = -1.0 if curve.role.worse == "down" else 1.0
    where = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[where]
    size = max(1, x.size // MIN_BLOCKS)
    where, x = where[: x.size // size * size : size], np.median(x[: x.size // size * size].reshape(-1, size), axis=1)
    y = sign * (np.log(x) if x.min() > 0 else x)
    place = min(int(np.searchsorted(where, at)), y.size - 1)
    reach = max(MIN_USUAL_POINTS, int(np.ceil(FINDING_ERROR * y.size)))
    start, end = max(place - reach, 0), place + reach + 1
    usual = y[max(start - 3 * reach, 0) : start]
    wide = at - 1, int(where[start]) - 1, int(where[min(end, y.size) - 1])
    if usual.size < MIN_USUAL_POINTS:
        return wide
    beyond = _standardised(usual, y[start : end + SPEED_POINTS])
    lasting = (
        i
        for i in np.flatnonzero(beyond[: end - start] > MIN_BEYOND)
        if median(beyond[i : i + LASTING_POINTS]) > MIN_BEYOND
    )
    first = next(lasting, None)
    if first is None:
        return wide
    high = start + int(first)
    calm = np.flatnonzero(beyond[: high - start] < MAX_USUAL)
    last = start + int(calm[-1]) if calm.size else start - 1
    low = max(min(last - (high - last - 1), high - _points_from_usual(beyond[high - start :])), 0)
    return int(where[last]) + size - 1, int(where[low]) + size - 1, int(where[high]) + size - 1


def _points_from_usual(beyond: NDArray[np.float64]) -> int:
    """Number of points that a curve that continues to rise needs from usual to its first value here; 1 if it jumped.

    Measured over the next few points, and over more for a slow rise. A rise that noise can explain does not count.
    """
    quick = (beyond[NEXT_POINTS] - beyond[0]) / NEXT_POINTS if beyond.size > NEXT_POINTS else 0.0
    if quick * NEXT_POINTS > MIN_BEYOND:
        return int(np.ceil(beyond[0] / quick)) + 1
    ahead = beyond[:SPEED_POINTS]
    half = ahead.size // 2
    if half < LASTING_POINTS or ahead[0] > 2 * MIN_BEYOND:
        return 1
    slow = (median(ahead[half:]) - median(ahead[:half])) / half
    return int(np.ceil(ahead[0] / slow)) + 1 if slow * half > MAX_USUAL / 2 else 1


def _standardised(usual: NDArray[np.float64], later: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of `later` above the course of `usual`, in units of its noise.

    The course is a line through the medians of the two halves of `usual`. It continues if it rises and becomes level if
    it falls.
    """
    half = usual.size // 2
    early, late = median(usual[:half]), median(usual[half:])
    slope = (late - early) / ((usual.size + 1) // 2 + half) * 2
    at = np.arange(usual.size + later.size) - (half + (usual.size - half - 1) / 2)
    if slope < 0:
        at = np.minimum(at, (usual.size - half - 1) / 2)
    rest = usual - late - slope * at[: usual.size]
    noise = 1.4826 * median(np.abs(rest - median(rest))) * (1 + SMALL_SAMPLE / usual.size)
    unit = max(noise, 1e-9 * float(np.abs(usual).max()), float(np.finfo(float).tiny))
    return np.asarray((later - late - slope * at[usual.size :]) / unit, np.float64)


def _axis(curve: Curve, main: Curve) -> NDArray[np.float64] | None:
    """The steps of `main` at each point of `curve`: its own if both count the same, otherwise by the times of both."""
    span, whole = (int(c.steps[-1]) - int(c.steps[0]) for c in (curve, main))
    same = whole <= MAX_SPAN_RATIO * span and span <= MAX_SPAN_RATIO * whole
    if same and curve.role.name not in COUNTERS:
        return curve.steps.astype(np.float64)
    timed = np.isfinite(main.times)
    if not np.isfinite(curve.times).all() or timed.sum() < 2:
        return None
    order = np.argsort(main.times[timed], kind="stable")
    return np.interp(curve.times, main.times[timed][order], main.steps[timed][order].astype(np.float64))
