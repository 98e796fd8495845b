"""Features of speed: how fast the run was, and whether it slowed down. Own readings count before
the times of the rows.
"""

from dataclasses import replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from loganalyst.curves.logtimes import pauses
from loganalyst.features.context import Computed, Context, median, ratio, witness_at
from loganalyst.model import Curve, Feature
from loganalyst.thresholds import feature_limit

NEEDS = "a throughput or step time, or times of the logged rows"
FEATURES = (
    Feature("throughput_metric", "text", "", "metric from which the speed was read (`steps per second`: from the times of the rows)", NEEDS),
    Feature("throughput_points", "int", "points", "readings of speed after the first tenth of the run", NEEDS),
    Feature("throughput_best", "float", "", "highest median speed of any tenth of the run (in steps per second where read from times)", NEEDS),
    Feature("throughput_last_share", "float", "share", "speed in the last tenth as a share of the fastest tenth", NEEDS),
    Feature("throughput_low_share", "float", "share", "share of the run, from its first fast tenth on (within a tenth of the fastest), below three quarters of the fastest", NEEDS),
    Feature("throughput_drop_share", "float", "share", "speed right after the largest drop as a share of the speed right before it (near throughput_last_share: sudden, otherwise a drift)", NEEDS),
    Feature("throughput_drop_step", "int", "step", "step of the largest drop", NEEDS),
    Feature("throughput_noise", "float", "", "half the interquartile range of the readings relative to their median, within tenths", NEEDS),
    Feature("data_time_share", "float", "share", "data time as a share of the step time, in the second half of the run", "data time and step time"),
    Feature("data_time_first_share", "float", "share", "data time as a share of the step time, in the first half of the run", "data time and step time"),
)  # fmt: skip
MIN_READINGS = 20  # readings for medians of tenths
MIN_JOINED = 10  # speeds of joined readings for medians of fifths
FROM_TIMES = "steps per second"  # the name of speeds that the times of rows show
LEARNING = ("train_loss", "rl_loss", "policy_loss", "value_loss")  # roles of metrics that begin when learning begins
BRIEF_RUN = timedelta(minutes=1)  # a shorter run consists of its start only
TENTHS = 10


def compute(context: Context) -> Computed:
    """All of FEATURES for which the run has readings."""
    return {**_speed(context), **_data(context)}


def _speed(context: Context) -> Computed:
    """Speed by tenths of the run, without the first readings, which contain compilation and warm-up, and without those
    before learning began, such as the random actions that fill a replay buffer.
    """
    found = _readings(context)
    if found is None:
        return {}
    curve, name, at, speed, merged = found
    if _is_brief(context) and (name == FROM_TIMES or speed.size * merged < feature_limit("brief_run_readings")):
        return {}
    skipped = max(speed.size // 10, int(np.sum(curve.steps[at] <= _learning_step(context))))
    at, speed = at[skipped:], speed[skipped:]
    if speed.size * merged < MIN_READINGS:
        return {}
    parts = np.array_split(speed, TENTHS if speed.size >= MIN_READINGS else TENTHS // 2)
    levels = np.array([median(part) for part in parts])
    best = int(np.argmax(levels))
    first_fast = int(np.argmax(levels >= feature_limit("throughput_fast") * levels[best]))
    if not levels[best] > 0:
        return {}
    spread = [
        float(np.subtract(*np.quantile(p, (0.75, 0.25)))) / 2 / m for p, m in zip(parts, levels, strict=True) if m > 0
    ]
    witness = witness_at(curve, int(at[-1]))
    out: Computed = {
        "throughput_metric": (name, witness_at(curve)),
        "throughput_points": int(speed.size) * merged,
        "throughput_best": float(levels[best]),
        "throughput_last_share": (float(levels[-1] / levels[best]), witness),
        "throughput_low_share": float(np.mean(levels[first_fast:] < feature_limit("throughput_low") * levels[best])),
        "throughput_noise": median(np.array(spread)),
    }
    return out | _drop(curve, at, speed, best * speed.size // len(parts))


def _learning_step(context: Context) -> int:
    """The first step with a loss, or -1."""
    return min((int(c.steps[0]) for c in context.with_role(*LEARNING) if c.steps.size), default=-1)


def _is_brief(context: Context) -> bool:
    started, ended = context.run.started, context.run.ended
    return started is not None and ended is not None and ended - started < BRIEF_RUN


def _drop(curve: Curve, at: NDArray[np.int64], speed: NDArray[np.float64], best: int) -> Computed:
    """The place after the fastest tenth with the largest fall of the median from one tenth of the
    readings to the next.
    """
    width = max(speed.size // (TENTHS if speed.size >= MIN_READINGS else TENTHS // 2), 1)
    places = np.arange(max(best, width), speed.size - width + 1, max(width // 10, 1))
    if not places.size:
        return {}
    after, before = (np.array([median(speed[p + a : p + b]) for p in places]) for a, b in ((0, width), (-width, 0)))
    fell = np.divide(after, before, out=np.ones(places.size), where=before > 0)
    worst = int(np.argmin(fell))
    witness = witness_at(curve, int(at[places[worst]]))
    return {
        "throughput_drop_share": (float(fell[worst]), witness),
        "throughput_drop_step": (int(curve.steps[at[places[worst]]]), witness),
    }


def _readings(context: Context) -> tuple[Curve, str, NDArray[np.int64], NDArray[np.float64], int] | None:
    """Curve, name, positions and speeds (higher is faster), from the run's own readings or from its times; and how
    many readings each speed covers.
    """
    for role, power in (("throughput", 1.0), ("step_time", -1.0)):
        for curve in context.with_role(role):
            at = np.flatnonzero(np.isfinite(curve.values) & (curve.values > 0))
            if at.size >= MIN_READINGS:
                return curve, curve.metric, at, curve.values[at] ** power, 1
    for curve in context.with_role("average_throughput"):
        at, speed, merged = _steady_enough(curve)
        if at.size * merged >= MIN_READINGS:
            return curve, curve.metric, at, speed, merged
    found = pauses(context.curves, np.array([]))
    if found is None:
        return _by_clock(context)
    steps = found.curve.steps[found.ends] - found.curve.steps[np.maximum(found.ends - 1, 0)]
    some = steps > 0
    return found.curve, FROM_TIMES, found.ends[some], steps[some] / found.seconds[some], 1


def _by_clock(context: Context) -> tuple[Curve, str, NDArray[np.int64], NDArray[np.float64], int] | None:
    """As `_readings`, from a clock that the run logged as a metric (`elapsed_time`); one that goes back is none."""
    for clock in context.with_role("wall_time"):
        steps, seconds = (np.diff(values) for values in (clock.steps.astype(float), clock.values))
        same = np.diff(clock.sessions) == 0
        if (seconds[same] >= 0).all() and (seconds[same] > 0).any() and (steps[same] > 0).all():
            average = np.divide(
                clock.steps, clock.values, out=np.full(clock.values.size, np.nan), where=clock.values > 0
            )
            at, speed, merged = _steady_enough(replace(clock, values=average))
            if at.size * merged >= MIN_READINGS:
                return clock, FROM_TIMES, at, speed, merged
    return None


def _steady_enough(curve: Curve) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Positions and speeds of averages since the start of a session, over so many readings each that they hardly
    scatter. Rows may follow one another within a chunk of work, and then seem a hundred times as fast.
    """
    at, speed = _between_readings(curve, 1)
    merged = 1
    while at.size >= 2 * MIN_JOINED and _scatter(speed) > feature_limit("speed_scatter"):
        merged *= 2
        at, speed = _between_readings(curve, merged)
    return at, speed, merged


def _scatter(speed: NDArray[np.float64]) -> float:
    """The typical change from one speed to the next, as a share of their median."""
    return median(np.abs(np.diff(speed))) / float(np.median(speed))


def _between_readings(curve: Curve, merged: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions, and the speeds since the reading `merged` before, of averages since the start of a session."""
    known = np.flatnonzero(np.isfinite(curve.values) & (curve.values > 0))[::merged]
    steps = curve.steps[known].astype(float)
    seconds = np.diff(steps / curve.values[known])
    some = (np.diff(steps) > 0) & (seconds > 0) & (np.diff(curve.sessions[known]) == 0)
    return known[1:][some], np.diff(steps)[some] / seconds[some]


def _data(context: Context) -> Computed:
    """Shares of the data time. Both times must be logged at the same steps and in the same unit: no step may wait
    longer than it takes.
    """
    waits, steps = context.with_role("data_time"), context.with_role("step_time")
    if (
        not waits
        or not steps
        or not np.array_equal(waits[0].steps, steps[0].steps)
        or len(waits[0].steps) < MIN_READINGS
    ):
        return {}
    half = len(waits[0].values) // 2
    some = np.isfinite(waits[0].values) & np.isfinite(steps[0].values)
    if not some[:half].any() or not some[half:].any():
        return {}
    late, early = (
        ratio(*(float(np.median(curve.values[part][some[part]])) for curve in (waits[0], steps[0])))
        for part in (slice(half, None), slice(half))
    )
    if late is None or early is None or not 0 <= min(late, early) <= max(late, early) <= 1:
        return {}
    witness = witness_at(waits[0], len(waits[0].values) - 1)
    return {"data_time_share": (late, witness), "data_time_first_share": early}
