"""Events near the place where the training loss went wrong, how likely they are there by chance, and what its spikes
coincide with.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.curves import axes
from loganalyst.features.context import Computed, Context, first_witness, witness_at
from loganalyst.features.resume import restart_places
from loganalyst.features.settingnames import setting_names
from loganalyst.model import Curve, Feature, Witness

Steps = NDArray[np.float64]
ROLE = "train_loss"
TROUBLE = ("nonfinite", "divergence", "level_up")  # without these, the largest spike
FAULT_PARTS = ("root", "symptom", "stop", "cascade")  # parts of log lines that report a failure
ONSET_ERROR = 0.005  # uncertainty of an onset, as a share of the run
PERIOD_TOLERANCE = 0.06  # relative difference allowed between a period and a multiple of an interval
MAX_INTERVALS = 4  # intervals that one period may span
EVENTS: Mapping[str, str] = {
    "rate": "a change of the learning rate",
    "epoch": "the end of an epoch",
    "checkpoint": "a checkpoint",
    "evaluation": "an evaluation",
    "restart": "a restart",
    "line": "a line of the log",
}
NEEDS = {"rate": "learning_rate", "epoch": "epoch", "checkpoint": "checkpoints", "evaluation": "val_loss", "restart": ROLE,
         "line": "the job log, with times, and times of the logged rows"}  # fmt: skip

PERIODS = {"epoch": "epochs", "evaluation": "evaluations", "checkpoint": "checkpoints", "rate": "changes of the rate"}

FEATURES = (
    Feature("trouble_step", "int", "step", "step at which the training loss first became non-finite, diverged or jumped up; without these, step of its largest spike", ROLE),
    Feature("trouble_kind", "text", "", "what happened there: nonfinite, divergence, level_up or spike", ROLE),
    *(
        Feature(f"trouble_{name}_chance", "float", "probability", f"probability that a random step follows {event} as closely as trouble_step does", NEEDS[name])
        for name, event in EVENTS.items()
    ),
    Feature("trouble_near", "text", "", "kind of the event for which this probability is lowest", ROLE),
    Feature("trouble_near_step", "int", "step", "step of the last such event before trouble_step", ROLE),
    Feature("trouble_near_chance", "float", "probability", "probability that a random step follows such an event as closely", ROLE),
    Feature("train_loss_period", "float", "steps", "steps between spikes of the training loss that recur at equal distances", ROLE),
    Feature("epoch_steps", "float", "steps", "steps of the training loss per epoch", "epoch"),
    Feature("train_loss_period_of", "text", "", "events that recur at the same distance as the spikes: epochs, evaluations, checkpoints or changes of the rate (none: no event recurs so; NULL: no such events are known)", ROLE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES. Where an event is not logged, its probability is not known."""
    curves = context.with_role(ROLE)
    if not curves or curves[0].steps[-1] <= curves[0].steps[0]:
        return {}

    @cache
    def events() -> dict[str, Steps]:
        return {name: e for name, e in _events(context, curves[0]).items() if e.size}

    periodic = context.findings_on("periodic", ROLE)
    out: Computed = {"epoch_steps": axes.steps_per_epoch(curves[0], context.with_role("epoch"))}
    out |= _period(curves[0], periodic, events()) if periodic.height else {}
    trouble = _trouble(context)
    return out if trouble is None else out | _coincidences(curves[0], trouble, events())


def _trouble(context: Context) -> dict[str, object] | None:
    """The first harmful finding, otherwise the largest spike."""
    found = context.findings_on(TROUBLE, ROLE)
    if not found.height:
        found = context.findings_on("spike", ROLE).sort("effect", descending=True)
    return found.row(0, named=True) if found.height else None


def _coincidences(curve: Curve, trouble: dict[str, object], events: Mapping[str, Steps]) -> Computed:
    at, witness = float(str(trouble["step"])), Witness(str(trouble["metric"]), int(str(trouble["step"])))
    out: Computed = {"trouble_step": (witness.step, witness), "trouble_kind": str(trouble["kind"])}
    chances = {name: chance(at, steps, curve.steps) for name, steps in events.items()}
    out |= {f"trouble_{name}_chance": value for name, (value, _) in chances.items()}
    if chances:
        name = min(chances, key=lambda n: chances[n][0])
        value, before = chances[name]
        if before is not None:
            out |= {"trouble_near": EVENTS[name], "trouble_near_step": before, "trouble_near_chance": value}
    return out


def chance(at: float, events: Steps, steps: NDArray[np.int64]) -> tuple[float, int | None]:
    """The probability that a random step of the run follows one of `events` as closely as `at` does, and the last event
    before `at`.

    Returns 1 and None if no event precedes `at`. Distances below the uncertainty of an onset count as zero.
    """
    interval = float(np.median(np.diff(steps))) if len(steps) > 1 else 1.0
    slack = max(interval, ONSET_ERROR * float(steps[-1] - steps[0]))
    events = np.unique(events[(events >= steps[0]) & (events <= steps[-1])])
    before = events[events <= at + slack]
    if not before.size:
        return 1.0, None
    reach = max(at - float(before[-1]), slack) + slack
    room = np.diff(np.append(events, float(steps[-1]) + slack))
    covered = float(np.minimum(reach, room).sum()) / (float(steps[-1] - steps[0]) + slack)
    return min(covered, 1.0), int(before[-1])


def _events(context: Context, curve: Curve) -> dict[str, Steps]:
    """The steps of the events by kind."""
    rates = [context.schedule(c) for c in context.with_role("learning_rate")[:1]]
    roles = ("val_loss", "val_accuracy", "val_score", "val_error_rate")
    held_out = [c for c in context.with_role(*roles) if 2 * len(c.steps) < len(curve.steps)]
    counters = context.with_role("epoch")
    saved = context.run.checkpoints["step"].drop_nulls().cast(pl.Float64).to_numpy()
    if not saved.size:
        saved = _planned(curve, context.number(*setting_names().saving))
    evaluated = axes.common_axis(curve, held_out[0], counters)[1] if held_out else np.empty(0)
    if not held_out and not context.with_role(*roles):
        evaluated = _planned(curve, context.number(*setting_names().evaluating))
    return {
        "rate": np.array([s for plan in rates for s in (*plan.drop_steps, *plan.jump_steps)], dtype=float),
        "epoch": axes.epoch_ends([curve], counters),
        "checkpoint": saved,
        "evaluation": evaluated,
        "restart": curve.steps[restart_places(context, curve)].astype(float),
        "line": _lines(context, curve),
    }


def _planned(curve: Curve, interval: float | None) -> Steps:
    """The steps at which the settings plan such work; none for an interval that is shorter than that of the points."""
    if interval is None or interval <= float(np.median(np.diff(curve.steps))):
        return np.empty(0)
    return np.arange(interval, float(curve.steps[-1]) + 1, interval)


def _lines(context: Context, curve: Curve) -> Steps:
    """The last logged steps before log lines that reported faults, by the times of both."""
    times = context.run.lines.filter(pl.col("part").is_in(FAULT_PARTS))["time"].drop_nulls()
    known = np.isfinite(curve.times)
    if not len(times) or not known.any() or np.any(np.diff(curve.times[known]) < 0):
        return np.empty(0)
    seconds = times.dt.epoch("us").to_numpy() / 1e6
    inside = seconds[(seconds >= curve.times[known][0]) & (seconds <= curve.times[known][-1])]
    before = np.searchsorted(curve.times[known], inside, side="right") - 1
    return np.asarray(curve.steps[known][before], dtype=float)


def _period(curve: Curve, periodic: pl.DataFrame, events: Mapping[str, Steps]) -> Computed:
    """The distance of the spikes in steps, and the events that recur at that distance or at a small fraction of it."""
    steps = float(np.median(np.diff(curve.steps))) * float(periodic["effect"][0])
    out: Computed = {"train_loss_period": (steps, first_witness(periodic))}
    found: list[tuple[int, str]] = []
    for name, words in PERIODS.items():
        e = events.get(name, np.empty(0))
        interval = float(np.median(np.diff(e))) if e.size > 2 else 0.0
        if interval > 0:
            out.setdefault("train_loss_period_of", "none")
        if interval > 0 and 0.5 < steps / interval < MAX_INTERVALS + 0.5:
            times = steps / interval
            if abs(times - round(times)) < PERIOD_TOLERANCE * times:
                found.append((round(times), words))
    if found:  # the events of the distance itself, before those of a fraction of it
        out["train_loss_period_of"] = (min(found, key=lambda pair: pair[0])[1], witness_at(curve))
    return out
