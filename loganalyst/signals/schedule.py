"""What a learning-rate curve does: its peak, warm-up, decay, sudden drops, restarts, and when it ran out."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from loganalyst.signals.robust import Array, as_floats

ScheduleKind = Literal["constant", "cosine", "linear", "step", "one_cycle", "warmup_constant", "other"]

FLAT = 1e-3  # relative change that still counts as constant
WARM = 0.95  # share of the peak at which a warm-up is over
SUDDEN = 0.7  # a rate that falls to this share or less from one point to the next drops at once
EXHAUSTED = 1e-3  # share of the peak below which nothing is learned any more
FIT = 0.03  # largest mean misfit to a named decay, as a share of the peak


@dataclass(frozen=True)
class Schedule:
    """A rate over the run. Shares are of the run (last step − first step) or of the peak; None = not tellable.

    `warmup_share` is the way to 95 % of the peak (0 if it starts there), `final_ratio` last/peak, `drop_steps` the
    steps at which the rate falls by 30 % or more at once, `restarts` how often it jumps up again after a decay,
    `exhausted_step` the first step from which it stays below a thousandth of the peak while a tenth of the run or
    more remains.
    """

    peak: float | None = None
    peak_step: int | None = None
    first: float | None = None
    last: float | None = None
    warmup_share: float | None = None
    final_ratio: float | None = None
    kind: ScheduleKind | None = None
    drop_steps: tuple[int, ...] = ()
    restarts: int | None = None
    exhausted_step: int | None = None


def schedule(steps: ArrayLike, values: ArrayLike) -> Schedule:
    """Describe a learning rate logged at `steps` (any order kept). Non-finite points are left out; never raises."""
    t, v = as_floats(steps), as_floats(values)
    t, v = t[: v.size], v[: t.size]
    keep = np.isfinite(v) & np.isfinite(t)
    t, v = t[keep], v[keep]
    if not v.size:
        return Schedule()
    top = int(np.argmax(v))
    peak, last = float(v[top]), float(v[-1])
    if peak <= 0:
        return Schedule(peak, int(t[top]), float(v[0]), last, kind="constant" if np.ptp(v) == 0 else "other")
    u = v / peak
    drops = np.flatnonzero(u[1:] <= SUDDEN * u[:-1]) + 1
    return Schedule(
        peak=peak,
        peak_step=int(t[top]),
        first=float(v[0]),
        last=last,
        warmup_share=_warmup(t, u) if v.size > 1 else None,
        final_ratio=float(u[-1]),
        kind=_kind(t, u, drops) if v.size > 2 else None,
        drop_steps=tuple(int(s) for s in t[drops][:1000]),
        restarts=_restarts(u),
        exhausted_step=_exhausted(t, u),
    )


def _span(t: Array) -> float:
    return float(t.max() - t.min()) or 1.0


def _warmup(t: Array, u: Array) -> float:
    """Share of the run until the rate first reaches 95 % of its peak."""
    return float(np.clip((t[int(np.argmax(u >= WARM))] - t[0]) / _span(t), 0.0, 1.0))


def _restarts(u: Array) -> int:
    """Rises by half of the peak or more at once, or a new climb after the rate had come down by half."""
    low = np.minimum.accumulate(u[int(np.argmax(u >= WARM)) :])
    count, tail = 0, u[int(np.argmax(u >= WARM)) :]
    while tail.size:  # one turn a restart
        low = np.minimum.accumulate(tail)
        again = np.flatnonzero((low < 0.5) & (tail > low + 0.25))
        if not again.size:
            return count
        count += 1
        rest = tail[int(again[0]) :]
        down = np.flatnonzero(rest < 0.5 * np.maximum.accumulate(rest))
        tail = rest[int(down[0]) :] if down.size else rest[:0]
    return count


def _exhausted(t: Array, u: Array) -> int | None:
    """First step of the final stretch below a thousandth of the peak, if a tenth of the run remains."""
    live = np.flatnonzero(u >= EXHAUSTED)
    first = int(live[-1]) + 1
    if first >= u.size or t[-1] - t[first] < 0.1 * _span(t):
        return None
    return int(t[first])


def _kind(t: Array, u: Array, drops: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> ScheduleKind:
    """The named schedule the decay after the peak follows."""
    if np.ptp(u) <= FLAT:
        return "constant"
    start = int(np.argmax(u >= 1 - FLAT))
    decay, x = u[start:], t[start:]
    if decay.size < 3 or np.ptp(decay) <= FLAT:
        return "warmup_constant" if start > 0 and u[0] < WARM and decay.size >= 3 else "other"
    flat_after = np.abs(np.diff(decay)) <= FLAT
    if drops.size and np.count_nonzero(~flat_after) <= max(drops.size * 2, 0.02 * decay.size):
        return "step"
    held = int(np.flatnonzero(decay >= 1 - FLAT)[-1])  # a flat top before the decay
    x, decay = x[held:], decay[held:]
    if x[-1] <= x[0]:
        return "other"
    phase = (x - x[0]) / (x[-1] - x[0])
    end = decay[-1]
    misfit = {
        "linear": float(np.mean(np.abs(decay - (1 + (end - 1) * phase)))),
        "cosine": float(np.mean(np.abs(decay - (end + (1 - end) * (1 + np.cos(np.pi * phase)) / 2)))),
    }
    best = min(misfit, key=lambda name: misfit[name])
    if misfit[best] > FIT:
        return "other"
    if best == "cosine":
        rise = (t[start] - t[0]) / _span(t)
        return "one_cycle" if rise >= 0.15 and u[0] <= 0.2 else "cosine"
    return "linear"
