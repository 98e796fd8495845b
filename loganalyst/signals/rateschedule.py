"""A learning-rate curve: its peak, warm-up, decay, sudden drops, restarts, and when it ran out."""

from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from loganalyst.signals.quantum import quantum
from loganalyst.signals.robuststatistics import Array, as_floats

ScheduleKind = Literal[
    "constant", "cosine", "linear", "exponential", "inverse_sqrt", "step", "one_cycle", "warmup_constant", "other"
]

MIN_RATE = 1e-300  # a smaller rate counts as 0, and nothing is relative to it
MAX_CONSTANT_CHANGE = 1e-3  # relative change that still counts as constant
WARM_SHARE = 0.95  # share of the peak at which the warm-up is over
MAX_LEFT_BY_DROP = 0.7  # share of the rate that a sudden drop leaves from one point to the next
MIN_DROP = 0.01  # share of the peak that a sudden drop takes (the last steps of a smooth decay halve the rate, too)
MIN_DROP_IN_STEPS = 1.5  # the same in units of the quantum: a rounded rate falls by one at a time
MIN_CLIMB = 0.25  # share of the peak by which a rate climbs again
SETTLED_SHARE = 0.1  # share of the run without a climb after which the warm-up is over
EXHAUSTED_SHARE = 1e-3  # share of the peak below which the model no longer learns
MIN_REMAINING = 0.1  # share of the run for which an exhausted rate lasts
MAX_MISFIT = 0.03  # mean misfit to a named decay, as a share of the peak


class Schedule(msgspec.Struct, frozen=True):
    """A rate over the run. Shares are of the run (last step − first step) or of the peak; None = not known.

    - `warmup_share`: share of the run until 95 % of the peak (0 if it starts there); `final_ratio`: last/peak
      (None: the last rate was rounded to 0).
    - `drop_steps`: steps with a sudden fall by 30 % or more; `jump_steps`: steps with a sudden rise by a quarter of the
      peak or more after the warm-up; `jump_ratio`: rate after the first jump divided by the rate before it.
    - `restarts`: how often it climbs again after a decay (`kind` is then that of the first cycle).
    - `exhausted_step`: first step from which it stays below a thousandth of the peak for at least a tenth of the run.

    >>> from loganalyst import signals
    >>> signals.schedule(range(100), [0.01] * 100).kind
    'constant'
    """

    peak: float | None = None
    peak_step: int | None = None
    first: float | None = None
    last: float | None = None
    warmup_share: float | None = None
    final_ratio: float | None = None
    kind: ScheduleKind | None = None
    drop_steps: tuple[int, ...] = ()
    jump_steps: tuple[int, ...] = ()
    jump_ratio: float | None = None
    restarts: int | None = None
    exhausted_step: int | None = None


def schedule(steps: ArrayLike, values: ArrayLike) -> Schedule:
    """Describe a learning rate logged at `steps` (any order is kept). Non-finite points are left out; never raises.

    >>> import numpy as np
    >>> from loganalyst import signals
    >>> steps = np.arange(1000)
    >>> found = signals.schedule(steps, 0.1 * np.minimum(steps / 100, 1))
    >>> found.kind, round(found.peak, 3)
    ('warmup_constant', 0.1)
    """
    t, v = as_floats(steps), as_floats(values)
    t, v = t[: v.size], v[: t.size]
    keep = np.isfinite(v) & np.isfinite(t)
    t, v = t[keep], v[keep]
    if not v.size:
        return Schedule()
    top = int(np.argmax(v))
    peak, last = float(v[top]), float(v[-1])
    if peak < MIN_RATE:
        return Schedule(peak, int(t[top]), float(v[0]), last, kind="constant" if np.ptp(v) == 0 else "other")
    u, step = np.maximum(v, -peak) / peak, quantum(v) / peak
    jumps = _jumps(t, u)
    least_drop = max(MIN_DROP, MIN_DROP_IN_STEPS * step)
    drops = np.flatnonzero((u[1:] <= MAX_LEFT_BY_DROP * u[:-1]) & (u[:-1] - u[1:] >= least_drop)) + 1
    hidden = last == 0 and step / 2 > EXHAUSTED_SHARE
    return Schedule(
        peak=peak,
        peak_step=int(t[top]),
        first=float(v[0]),
        last=last,
        warmup_share=_warmup(t, u) if v.size > 1 else None,
        final_ratio=None if hidden else float(u[-1]),
        kind=_kind(t, u, drops) if v.size > 2 else None,
        drop_steps=tuple(int(s) for s in t[drops][:1000]),
        jump_steps=tuple(int(s) for s in t[jumps][:1000]),
        jump_ratio=float(u[jumps[0]] / u[jumps[0] - 1]) if jumps.size and u[jumps[0] - 1] > MIN_RATE else None,
        restarts=len(_restarts(u)),
        exhausted_step=None if hidden else _exhausted(t, u),
    )


def _span(t: Array) -> float:
    return float(t.max() - t.min()) or 1.0


def _warmup(t: Array, u: Array) -> float:
    """Share of the run until the rate first reaches 95 % of its peak."""
    return float(np.clip((t[int(np.argmax(u >= WARM_SHARE))] - t[0]) / _span(t), 0.0, 1.0))


def _jumps(t: Array, u: Array) -> NDArray[np.intp]:
    """The points where the rate suddenly rises by a quarter of the peak or more after its warm-up."""
    warm = min(int(np.argmax(u >= WARM_SHARE)), _settled(t, u))
    return (
        np.flatnonzero((u[warm:-1] <= MAX_LEFT_BY_DROP * u[warm + 1 :]) & (u[warm + 1 :] - u[warm:-1] >= MIN_CLIMB))
        + warm
        + 1
    )


def _settled(t: Array, u: Array) -> int:
    """The point where the rate is above 0 and has not climbed for a tenth of the run: the warm-up is over."""
    top = np.maximum.accumulate(u)
    climbs = np.append(True, top[1:] > top[:-1] * (1 + MAX_CONSTANT_CHANGE))
    since = np.maximum.accumulate(np.where(climbs, np.arange(u.size), 0))
    over = (t - t[since] >= SETTLED_SHARE * _span(t)) & (top > 0)
    return int(np.argmax(over)) if over.any() else u.size - 1


def _restarts(u: Array) -> list[int]:
    """The points where the rate begins to climb by a quarter of the peak or more after it fell below half of it."""
    found: list[int] = []
    peaks = np.flatnonzero(u == np.maximum.accumulate(u[::-1])[::-1])  # points without a higher value later
    at = _first_where(u, 0, lambda v: v >= WARM_SHARE)
    while at is not None and (down := _first_where(u, at, lambda v: v < 0.5)) is not None:  # one round for each restart
        again = _first_where(u, down, lambda v: v > np.minimum.accumulate(v) + MIN_CLIMB)
        if again is None:
            break
        fallen = u[down:again]
        found.append(down + int(np.flatnonzero(fallen <= fallen.min())[-1]) + 1)
        at = int(peaks[np.searchsorted(peaks, again)])
    return found


def _first_where(u: Array, at: int, holds: Callable[[Array], NDArray[np.bool_]]) -> int | None:
    """The first point from `at` on where a condition holds that depends only on earlier values.

    Looks at growing windows, so that with many restarts no search scans all the rest.
    """
    width = 64
    while not (hits := np.flatnonzero(holds(u[at : at + width]))).size:
        if at + width >= u.size:
            return None
        width *= 4
    return at + int(hits[0])


def _exhausted(t: Array, u: Array) -> int | None:
    """First step of the final stretch below a thousandth of the peak, if a tenth of the run remains. Steps that go back
    come from two counters; rows count then.
    """
    live = np.flatnonzero(u >= EXHAUSTED_SHARE)
    first = int(live[-1]) + 1
    place = as_floats(np.arange(t.size)) if (np.diff(t) < 0).any() else t
    if first >= u.size or place[-1] - place[first] < MIN_REMAINING * _span(place):
        return None
    return int(t[first])


def _kind(t: Array, u: Array, drops: NDArray[np.intp]) -> ScheduleKind:
    """The named schedule that the rate follows."""
    if np.ptp(u) <= MAX_CONSTANT_CHANGE:
        return "constant"
    again = _restarts(u)
    if again:
        first = u[: again[0]]  # the peak of the first cycle may be slightly lower than later ones
        return _kind(t[: again[0]], first / first.max(), drops[drops < again[0]])
    start = int(np.argmax(u >= 1 - MAX_CONSTANT_CHANGE))
    decay = u[start:]
    if decay.size < 3:
        return "other"
    if np.ptp(decay) <= MAX_CONSTANT_CHANGE:
        return "warmup_constant"
    moves = np.count_nonzero(np.abs(np.diff(decay)) > MAX_CONSTANT_CHANGE)
    if drops.size and moves <= max(2 * drops.size, 0.02 * decay.size):
        return "step"
    held = start + int(np.flatnonzero(decay >= 1 - MAX_CONSTANT_CHANGE)[-1])  # a flat top before the decay
    name = _decay(t[held:], u[held:])
    rise = (t[start] - t[0]) / _span(t)
    return "one_cycle" if name == "cosine" and rise >= 0.15 and u[0] <= 0.2 else name


def _decay(t: Array, u: Array) -> ScheduleKind:
    """The decay from the peak to the last value that fits best, if it fits well enough."""
    if t[-1] <= t[0]:
        return "other"
    phase, last = (t - t[0]) / (t[-1] - t[0]), float(u[-1])
    laws: dict[ScheduleKind, Array] = {
        "linear": 1 + (last - 1) * phase,
        "cosine": last + (1 - last) * (1 + np.cos(np.pi * phase)) / 2,
    }
    if last > 0:
        laws["exponential"] = last**phase
        laws["inverse_sqrt"] = last / np.hypot(
            last, np.sqrt((1 - last**2) * phase)
        )  # 1 / sqrt(1 + (last^-2 - 1) phase)
    misfit = {name: float(np.mean(np.abs(u - law))) for name, law in laws.items()}
    best = min(misfit, key=lambda name: misfit[name])
    return best if misfit[best] <= MAX_MISFIT else "other"
