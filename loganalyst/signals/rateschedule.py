"""What a learning-rate curve does: its peak, warm-up, decay, sudden drops, restarts, and when it ran out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loganalyst.signals.robuststatistics import Array, as_floats

ScheduleKind = Literal[
    "constant", "cosine", "linear", "exponential", "inverse_sqrt", "step", "one_cycle", "warmup_constant", "other"
]

NOTHING = 1e-300  # a rate that is no greater is 0: nothing can be told against it
FLAT = 1e-3  # relative change that still counts as constant
WARM = 0.95  # share of the peak at which a warm-up is over
SUDDEN = 0.7  # a rate that falls to this share or less from one point to the next drops at once
LEAST = 0.01  # and by this share of the peak (the last steps of a smooth decay halve the rate, too)
RISE = 0.25  # share of the peak by which a rate climbs again
SETTLED = 0.1  # share of the run for which a rate does not climb before its warm-up is over
EXHAUSTED = 1e-3  # share of the peak below which nothing is learned any more
FIT = 0.03  # largest mean misfit to a named decay, as a share of the peak


@dataclass(frozen=True)
class Schedule:
    """A rate over the run. Shares are of the run (last step − first step) or of the peak; None = not tellable.

    `warmup_share` is the way to 95 % of the peak (0 if it starts there), `final_ratio` last/peak, `drop_steps` the
    steps at which the rate falls by 30 % or more at once, `jump_steps` those at which it rises by as much at once after
    its warm-up, `jump_ratio` the rate after the first of them against that before, `restarts` how often it climbs again
    after a decay (`kind` is then that of the first), `exhausted_step` the first step from which it stays below a
    thousandth of the peak while a tenth of the run or more remains.

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
    """Describe a learning rate logged at `steps` (any order kept). Non-finite points are left out; never raises.

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
    if peak < NOTHING:
        return Schedule(peak, int(t[top]), float(v[0]), last, kind="constant" if np.ptp(v) == 0 else "other")
    u = np.maximum(v, -peak) / peak
    jumps = _jumps(t, u)
    drops = np.flatnonzero((u[1:] <= SUDDEN * u[:-1]) & (u[:-1] - u[1:] >= LEAST)) + 1
    return Schedule(
        peak=peak,
        peak_step=int(t[top]),
        first=float(v[0]),
        last=last,
        warmup_share=_warmup(t, u) if v.size > 1 else None,
        final_ratio=float(u[-1]),
        kind=_kind(t, u, drops) if v.size > 2 else None,
        drop_steps=tuple(int(s) for s in t[drops][:1000]),
        jump_steps=tuple(int(s) for s in t[jumps][:1000]),
        jump_ratio=float(u[jumps[0]] / u[jumps[0] - 1]) if jumps.size and u[jumps[0] - 1] > NOTHING else None,
        restarts=len(_restarts(u)),
        exhausted_step=_exhausted(t, u),
    )


def _span(t: Array) -> float:
    return float(t.max() - t.min()) or 1.0


def _warmup(t: Array, u: Array) -> float:
    """Share of the run until the rate first reaches 95 % of its peak."""
    return float(np.clip((t[int(np.argmax(u >= WARM))] - t[0]) / _span(t), 0.0, 1.0))


def _jumps(t: Array, u: Array) -> NDArray[np.intp]:
    """Where the rate rises by a quarter of the peak or more at once after its warm-up."""
    warm = min(int(np.argmax(u >= WARM)), _settled(t, u))
    return np.flatnonzero((u[warm:-1] <= SUDDEN * u[warm + 1 :]) & (u[warm + 1 :] - u[warm:-1] >= RISE)) + warm + 1


def _settled(t: Array, u: Array) -> int:
    """Where the rate, once above 0, has been no higher than before for a tenth of the run: its warm-up is over."""
    top = np.maximum.accumulate(u)
    climbs = np.append(True, top[1:] > top[:-1] * (1 + FLAT))
    since = np.maximum.accumulate(np.where(climbs, np.arange(u.size), 0))
    over = (t - t[since] >= SETTLED * _span(t)) & (top > 0)
    return int(np.argmax(over)) if over.any() else u.size - 1


def _restarts(u: Array) -> list[int]:
    """Where the rate begins to climb by a quarter of the peak or more after it had come down below a half."""
    found: list[int] = []
    peaks = np.flatnonzero(u == np.maximum.accumulate(u[::-1])[::-1])  # no later value is higher
    at = _next(u, 0, lambda v: v >= WARM)
    while at is not None and (down := _next(u, at, lambda v: v < 0.5)) is not None:  # one turn a restart
        again = _next(u, down, lambda v: v > np.minimum.accumulate(v) + RISE)
        if again is None:
            break
        fallen = u[down:again]
        found.append(down + int(np.flatnonzero(fallen <= fallen.min())[-1]) + 1)
        at = int(peaks[np.searchsorted(peaks, again)])
    return found


def _next(u: Array, at: int, holds: Callable[[Array], NDArray[np.bool_]]) -> int | None:
    """Where, from `at` on, something first holds that only what comes before decides. Near places are looked at before
    far ones: of many turns none looks at all the rest.
    """
    width = 64
    while not (seen := np.flatnonzero(holds(u[at : at + width]))).size:
        if at + width >= u.size:
            return None
        width *= 4
    return at + int(seen[0])


def _exhausted(t: Array, u: Array) -> int | None:
    """First step of the final stretch below a thousandth of the peak, if a tenth of the run remains."""
    live = np.flatnonzero(u >= EXHAUSTED)
    first = int(live[-1]) + 1
    if first >= u.size or t[-1] - t[first] < 0.1 * _span(t):
        return None
    return int(t[first])


def _kind(t: Array, u: Array, drops: NDArray[np.intp]) -> ScheduleKind:
    """The named schedule the rate follows."""
    if np.ptp(u) <= FLAT:
        return "constant"
    again = _restarts(u)
    if again:
        first = u[: again[0]]  # its own peak may be a little lower than that of a later one
        return _kind(t[: again[0]], first / first.max(), drops[drops < again[0]])
    start = int(np.argmax(u >= 1 - FLAT))
    decay = u[start:]
    if decay.size < 3:
        return "other"
    if np.ptp(decay) <= FLAT:
        return "warmup_constant"
    moves = np.count_nonzero(np.abs(np.diff(decay)) > FLAT)
    if drops.size and moves <= max(2 * drops.size, 0.02 * decay.size):
        return "step"
    held = start + int(np.flatnonzero(decay >= 1 - FLAT)[-1])  # a flat top before the decay
    name = _decay(t[held:], u[held:])
    rise = (t[start] - t[0]) / _span(t)
    return "one_cycle" if name == "cosine" and rise >= 0.15 and u[0] <= 0.2 else name


def _decay(t: Array, u: Array) -> ScheduleKind:
    """The curve from the peak to the last value that fits best, if it fits."""
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
    return best if misfit[best] <= FIT else "other"
