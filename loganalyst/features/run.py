"""Features of the whole run: how much was logged, how far it got, and how it ended."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from loganalyst.features.context import Computed, Context, ratio
from loganalyst.features.progress import differs, last_progress, printed_plan
from loganalyst.features.settingnames import setting_names
from loganalyst.model import HEADER_ALONE, OF_NO_FORMAT, UNREAD, Curve, Feature, Run
from loganalyst.patterntraits import having

COUNTERS = (
    "system",
    "gpu_memory",
    "gpu_util",
    "host_memory",
    "wall_time",
    "time_left",
    "step",
    "epoch",
    "parameter_count",
)

FEATURES = (
    Feature("run_status", "text", "", "finished, failed, killed, timeout, preempted, cancelled, node_fail or running", "run"),
    Feature("run_stopped_early", "bool", "", "a job log says that training stopped early because a held-out value no longer improved", "run"),
    Feature("run_status_otherwise", "text", "", "statements of a tracker, a log or the scheduler about the end of the run that contradict run_status", "run"),
    Feature("run_end_told", "bool", "", "a log, a tracker or the scheduler states how the run ended, or that it is still running", "run"),
    Feature("run_kind", "text", "", "training, evaluation (only held-out values or scores), reinforcement, adversarial, or job (a log without a curve of these)", "points"),
    Feature("run_is_running", "bool", "", "the run is still running: nothing states how it ended (NULL: a file was not read to its end)", "run"),
    Feature("run_longest_metric", "int", "points", "values of the metric with most values, without system readings and counters (0 = nothing was logged; NULL: numbers were printed, and are not understood)", "points"),
    Feature("run_last_step", "int", "step", "highest step logged", "points"),
    Feature("run_planned_steps", "float", "steps", "planned steps from the config, otherwise from the job log", "config"),
    Feature("run_steps_are_rows", "bool", "", "the steps number the logged values 0, 1, 2 …, and the job log printed another step, or none beside fractions of epochs, or none and each metric once", "run"),
    Feature("run_done_share", "float", "share", "highest step as a share of the planned steps", "config"),
    Feature("run_counted_to_plan", "bool", "", "the trainer's state counts all planned steps, logged or not (false: nothing says so)", "run"),
    Feature("run_duration_s", "float", "s", "time from the first to the last row", "points"),
    Feature("run_exit_code", "int", "", "exit code that the tracker or the scheduler recorded", "run"),
    Feature("run_evaluated", "bool", "", "a value on held-out data was logged: a loss, a score or an error rate", "run"),
    Feature("run_log_expected", "bool", "", "a tracker, an event file, or a log together with its config was found, so the run was meant to log metrics", "run"),
    Feature("run_earlier_trainings_points", "int", "points", "values of the loss that the same file holds before the start of its last training, and that are not judged", "train_loss or val_loss"),
)  # fmt: skip

SOURCE_NAMES = {"wandb": "W&B", "mlflow": "MLflow", "mlflowdb": "MLflow", "trackio": "Trackio", "text": "the job log"}
_STATES = {
    "completed": "finished", "failed": "failed", "boot_fail": "node_fail", "timeout": "timeout", "deadline": "timeout",
    "out_of_memory": "killed", "node_fail": "node_fail", "preempted": "preempted", "cancelled": "cancelled",
}  # fmt: skip

# The kind of a run is the first with a role that was logged often enough
KINDS = {
    "reinforcement": ("reward", "success_rate", "value_loss", "rl_loss", "entropy"),
    "adversarial": ("discriminator_loss", "generator_loss"),
    "training": ("train_loss", "train_accuracy"),
    "evaluation": (
        "val_loss",
        "val_loss_component",
        "val_accuracy",
        "val_score",
        "val_error_rate",
        "loss_component",
    ),
}
MIN_CURVE_POINTS = 4


def compute(context: Context) -> Computed:
    """All of FEATURES. Only the plan, the duration and the exit code may be unknown."""
    run = context.run
    kept = [c for c in context.curves if c.role.name not in COUNTERS]
    last = last_step(context)
    planned = planned_steps(context)
    code = run.config.filter(pl.col("key") == "_wandb.exit_code")["number"]
    # a text, perhaps no log of the training; or a header, which may have been copied without its rows
    unsure = run.gaps.filter(pl.col("why").is_in((OF_NO_FORMAT, HEADER_ALONE)))["file"]
    formats = {s.format for s in run.sources if s.path not in unsure}
    # a log alone may be an excerpt; with its config it is the whole output of the run
    expected = bool(formats & {"tensorboard", "wandb", "csv", "json"}) or {"text", "config"} <= formats
    unread = bool(run.gaps["why"].str.contains(UNREAD, literal=True).any())
    out: Computed = {
        "run_status": None if run.status == "unknown" or (unread and run.status == "running") else run.status,
        "run_stopped_early": _stopped_early(run),
        "run_status_otherwise": _contradictions(run),
        "run_end_told": run.status != "unknown",
        "run_kind": _kind(context),
        "run_is_running": None if unread else run.status == "running",
        "run_longest_metric": max((len(c.values) for c in kept), default=None if _is_unread(context) else 0),
        "run_last_step": last,
        "run_planned_steps": planned,
        "run_steps_are_rows": planned is None and last is not None and _are_rows(run, kept, last),
        "run_done_share": ratio(last, planned),
        "run_counted_to_plan": _counted_to_plan(context, planned),
        "run_duration_s": (run.ended - run.started).total_seconds() if run.ended and run.started else None,
        "run_exit_code": int(code[0]) if len(code) and code[0] is not None else None,
        "run_evaluated": any(c.role.name.startswith("val_") for c in kept),
        "run_log_expected": expected,
        "run_earlier_trainings_points": _left_out(context),
    }
    return out


def _is_unread(context: Context) -> bool:
    """Whether a log without an error holds rows of numbers that look like results and are not understood."""
    return not any(context.roots.values()) and bool(context.run.lines["pattern"].is_in(having("unread_rows")).any())


def _are_rows(run: Run, kept: Sequence[Curve], last: int) -> bool:
    """Whether the reader numbered the values, up to `last`: the longest curve has each step from 0 once, and the job log
    printed another step, or fractions of epochs alone; or all values have step 0, and the job log printed no counter.
    """
    uncounted = _printed_no_counter(run)
    if last == 0 and uncounted and not any(np.isfinite(c.epochs).any() for c in kept):
        return True
    longest = max(kept, key=lambda c: len(c.steps))
    fractions = uncounted and bool(np.mod(longest.epochs[np.isfinite(longest.epochs)], 1).any())
    return np.array_equal(longest.steps, np.arange(last + 1)) and (fractions or differs(run, last))


def _printed_no_counter(run: Run) -> bool:
    """Whether all values are from job logs that print no step and no epoch."""
    with_points = {s.format for s in run.sources if s.points}
    return with_points == {"text"} and not last_progress(run).height


def _left_out(context: Context) -> int | None:
    """The values in the file of the loss, of the same session, that come before the first judged one; 0 where they are of
    an earlier stage of the same training, of which other curves are judged.
    """
    curve = next(iter(context.with_role("train_loss", "val_loss", "val_score", "val_accuracy", "train_accuracy")), None)
    if curve is None or not curve.lines.size or curve.lines[0] < 0:
        return None
    begin = int(curve.lines[0])
    if any(c.source == curve.source and c.lines.size and 0 <= c.lines[0] < begin for c in context.curves):
        return 0
    same = (pl.col("metric") == curve.metric) & (pl.col("session") == int(curve.sessions[0]))
    return context.run.points.filter(same & (pl.col("source") == curve.source) & (pl.col("line") < begin)).height


def _stopped_early(run: Run) -> bool:
    stops = run.lines.filter(
        pl.col("session") == pl.col("session").max(), pl.col("pattern").is_in(having("early_stop"))
    )
    return stops.height > 0


def planned_steps(context: Context) -> float | None:
    """The steps that the config plans; without a setting, the steps that the job log announces, or those that follow
    from the remaining time.
    """
    planned = context.number(*setting_names().planned_steps)
    if planned and planned > 0:
        return planned
    return printed_plan(context.run, last_step(context)) or _plan_by_time(context)


def _plan_by_time(context: Context) -> float | None:
    """The steps of a run with a logged remaining time: as many as the time so far, which the steps took, is of both."""
    for left in context.with_role("time_left"):
        for passed in (c for c in context.with_role("wall_time") if c.source == left.source):
            so_far, rest = float(passed.values[-1]), float(left.values[-1])
            if passed.steps[-1] == left.steps[-1] and so_far > 0 and rest >= 0 and np.isfinite(so_far + rest):
                return float(round((int(left.steps[-1]) + 1) * (so_far + rest) / so_far))
    return None


def last_step(context: Context) -> int | None:
    """The highest step of a curve that is no system reading and no counter."""
    kept = (c for c in context.curves if c.role.name not in COUNTERS)
    return max((int(c.steps[-1]) for c in kept if len(c.steps)), default=None)


def _counted_to_plan(context: Context, planned: float | None) -> bool:
    """Whether the trainer's state counts all planned steps, logged or not."""
    counted = context.number("trainer_state.global_step")
    return counted is not None and planned is not None and counted >= planned


def _contradictions(run: Run) -> str | None:
    """`W&B says finished, SLURM says COMPLETED`; None without a contradiction. "failed" does not contradict a kill or a
    stop.
    """
    formats = {s.path: s.format or "" for s in run.sources}
    ends = run.sessions.select("session", "source", "status").drop_nulls()
    last = run.sessions["session"].max()
    statements = [
        (SOURCE_NAMES.get(formats.get(file, ""), "the log"), end, end) for n, file, end in ends.iter_rows() if n == last
    ]
    states = run.jobs.select("job", "state").drop_nulls()
    words = [state.split(" ")[0].rstrip("+") for job, state in states.iter_rows() if job == (run.job or "")]
    statements += [("SLURM", word, _STATES.get(word.lower(), "unknown")) for word in words[-1:]]
    consistent = {"unknown", "running", run.status, *(() if run.status in ("finished", "unknown") else ("failed",))}
    return (
        ", ".join(dict.fromkeys(f"{who} says {word}" for who, word, status in statements if status not in consistent))
        or None
    )


def _kind(context: Context) -> str | None:
    """The kind of the run, by its logged metrics; None if it logged too little."""
    logged = {c.role.name for c in context.curves if len(c.values) >= MIN_CURVE_POINTS}
    if context.predicts:
        logged -= {"entropy", "success_rate"}
    known = (kind for kind, roles in KINDS.items() if logged.intersection(roles))
    read = any(s.format in ("text", "slurm") for s in context.run.sources)
    return next(known, "job" if read else None)
