"""Who moved first: when each judged metric left its usual course, and how sure the order of two such onsets is.

An onset is known within an interval: it was not before the last usual point, and not after the first one that is clearly
beyond it. The interval widens with the logging interval, with noise, and where a curve leaves slowly.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loganalyst.features.context import Computed, Context, median
from loganalyst.features.run import COUNTERS
from loganalyst.model import Curve, Feature, Onset, Witness

HARM = ("nonfinite", "divergence", "level_up")  # kinds of findings that leave the usual course for the worse
WHOLE = ("train_loss", "grad_norm", "grad_norm_squared", "learning_rate")  # roles there is one of in a run
WARM_UP = 0.05  # of the run: a rate that rises there is meant to
REACH = 0.05  # share of a curve within which a finding is placed right
FEWEST = 5  # points that tell what is usual
BLOCKS = 400  # medians that a curve is looked at in, at least
SMALL = 4.0  # points by which the noise of a few is taken for larger
CALM, FAR = 2.0, 4.0  # noise units up to which a point is usual, and from which on it is beyond
AHEAD = 20  # points behind the first one beyond that tell how fast the curve goes on
NEXT = 3
LASTING = 5  # points whose median stays beyond
SAME_UNIT = 20  # a curve whose steps span less than one in so many of the run's counts something else

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
    """All of FEATURES; those of a pair only where both moved."""
    found = onsets(context)
    loss = _of(found, "train_loss")
    alone: Computed = {} if loss is None else {"train_loss_onset_step": (loss.step, _seen(loss))}
    if len([c for c in context.curves if c.role.judged and len(c.values)]) < 2:
        return alone
    if not found:
        return {"onset_count": 0}
    first, others = found[0], found[1:]
    out: Computed = alone | {
        "onset_count": len(found),
        "onset_first_metric": (first.metric, _seen(first)),
        "onset_first_role": first.role,
        "onset_first_step": (first.step, _seen(first)),
    }
    if others:
        out["onset_first_confidence"] = min(first.before(other) for other in others)
    return out | _beside_loss(found) | _beside_speed(found)


def _beside_loss(found: Sequence[Onset]) -> Computed:
    loss = _of(found, "train_loss")
    if loss is None:
        return {}
    out: Computed = {}
    if rate := _of(found, "learning_rate"):
        out |= {"rate_first_confidence": (rate.before(loss), _seen(rate)), "rate_first_step": rate.step}
    if grad := _of(found, *_GRADIENTS):
        out |= {"grad_first_confidence": (grad.before(loss), _seen(grad)), "grad_first_steps": loss.step - grad.step}
    if term := _of(found, *_TERMS):
        rivals = [o for o in found if o.role in _TERMS and o.metric != term.metric]
        together = 2 * term.before(loss)  # one half: both at once, as a total moves with its term
        out |= {
            "term_first_confidence": (min(0.99, together, *(term.before(o) for o in rivals)), _seen(term)),
            "term_first_metric": term.metric,
            "term_first_step": term.step,
        }
    return out


def _beside_speed(found: Sequence[Onset]) -> Computed:
    data, speed = _of(found, "data_time"), _of(found, *_SPEED)
    if data is None or speed is None:
        return {}
    return {"data_first_confidence": (data.before(speed), _seen(data)), "data_first_step": data.step}


def _of(found: Sequence[Onset], *roles: str) -> Onset | None:
    return next((o for o in found if o.role in roles), None)


def _seen(onset: Onset) -> Witness:
    return Witness(onset.metric, onset.step, onset.file)


def onsets(context: Context) -> tuple[Onset, ...]:
    """The first onset of every judged metric that had one, in order, on the step axis of the metric with most points.

    A metric that counts its steps in another unit is placed by its times; without those it is left out. Of what there is
    one of in a run, however often it was logged (by step and by epoch, to a file and to a tracker), the first counts.
    """
    main = _main(context.curves)
    if main is None:
        return ()
    curves = {c.metric: c for c in context.curves}
    found = [
        _onset(curves[row["metric"]], row, main)
        for row in context.findings.sort("step", maintain_order=True).iter_rows(named=True)
        if row["kind"] in HARM and row["metric"] in curves
    ]
    first: dict[str, Onset] = {}
    for onset in sorted((o for o in found if o is not None), key=lambda o: (o.step, o.metric)):
        first.setdefault(onset.role if onset.role in WHOLE else onset.metric, onset)
    return tuple(first.values())


def _main(curves: Sequence[Curve]) -> Curve | None:
    judged = [c for c in curves if c.role.judged and c.role.name not in COUNTERS and len(c.values)]
    return max(judged, key=lambda c: len(c.values), default=None)


def _onset(curve: Curve, row: dict[str, object], main: Curve) -> Onset | None:
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
    """Positions: the last usual point, the earliest the onset can have been behind, and the first one beyond.

    Usual is the level right before the place where the change was found, with its rise where it rose already; of many
    points medians of a few are looked at. A curve that takes long from usual to beyond was on its way before it stood
    out: by as long again.
    """
    sign = -1.0 if curve.role.worse == "down" else 1.0
    where = np.flatnonzero(np.isfinite(curve.values))
    x = curve.values[where]
    size = max(1, x.size // BLOCKS)
    where, x = where[: x.size // size * size : size], np.median(x[: x.size // size * size].reshape(-1, size), axis=1)
    y = sign * (np.log(x) if x.min() > 0 else x)
    place = min(int(np.searchsorted(where, at)), y.size - 1)
    reach = max(FEWEST, int(np.ceil(REACH * y.size)))
    start, end = max(place - reach, 0), place + reach + 1
    usual = y[max(start - 3 * reach, 0) : start]
    vague = at - 1, int(where[start]) - 1, int(where[min(end, y.size) - 1])
    if usual.size < FEWEST:
        return vague
    beyond = _standardised(usual, y[start : end + AHEAD])
    lasting = (i for i in np.flatnonzero(beyond[: end - start] > FAR) if median(beyond[i : i + LASTING]) > FAR)
    first = next(lasting, None)
    if first is None:
        return vague
    high = start + int(first)
    calm = np.flatnonzero(beyond[: high - start] < CALM)
    last = start + int(calm[-1]) if calm.size else start - 1
    low = max(min(last - (high - last - 1), high - _on_its_way(beyond[high - start :])), 0)
    return int(where[last]) + size - 1, int(where[low]) + size - 1, int(where[high]) + size - 1


def _on_its_way(beyond: NDArray[np.float64]) -> int:
    """How many points a curve that goes on to rise needs from usual to its first value here; 1 where it jumped.

    Asked of the next few points, and of more for a slow rise; what noise alone can give counts for nothing.
    """
    quick = (beyond[NEXT] - beyond[0]) / NEXT if beyond.size > NEXT else 0.0
    if quick * NEXT > FAR:
        return int(np.ceil(beyond[0] / quick)) + 1
    ahead = beyond[:AHEAD]
    half = ahead.size // 2
    if half < LASTING or ahead[0] > 2 * FAR:
        return 1
    slow = (median(ahead[half:]) - median(ahead[:half])) / half
    return int(np.ceil(ahead[0] / slow)) + 1 if slow * half > CALM / 2 else 1


def _standardised(usual: NDArray[np.float64], then: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far `then` lies above what `usual` leads to expect, in units of its noise: a line through the medians of its
    halves, which goes on where it rises and stops where it falls.
    """
    half = usual.size // 2
    early, late = median(usual[:half]), median(usual[half:])
    slope = (late - early) / ((usual.size + 1) // 2 + half) * 2
    at = np.arange(usual.size + then.size) - (half + (usual.size - half - 1) / 2)
    if slope < 0:
        at = np.minimum(at, (usual.size - half - 1) / 2)
    rest = usual - late - slope * at[: usual.size]
    noise = 1.4826 * median(np.abs(rest - median(rest))) * (1 + SMALL / usual.size)
    unit = max(noise, 1e-9 * float(np.abs(usual).max()), float(np.finfo(float).tiny))
    return np.asarray((then - late - slope * at[usual.size :]) / unit, np.float64)


def _axis(curve: Curve, main: Curve) -> NDArray[np.float64] | None:
    """The steps of `main` at each point of `curve`: its own where they count the same, else by the times of both."""
    span, whole = (int(c.steps[-1]) - int(c.steps[0]) for c in (curve, main))
    same = whole <= SAME_UNIT * span and span <= SAME_UNIT * whole
    if same and curve.role.name not in COUNTERS:
        return curve.steps.astype(np.float64)
    timed = np.isfinite(main.times)
    if not np.isfinite(curve.times).all() or timed.sum() < 2:
        return None
    order = np.argsort(main.times[timed], kind="stable")
    return np.interp(curve.times, main.times[timed][order], main.steps[timed][order].astype(np.float64))
