"""Features of efficiency: how much of its processors, memory, GPUs and time a job used, and how long the rest would
take.
"""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from loganalyst.features.context import Computed, Context, ratio, witness_at
from loganalyst.features.job import NEEDS, accounted, first
from loganalyst.features.run import COUNTERS, planned_steps
from loganalyst.model import Curve, Feature, FeatureValue, Witness

GPU = "gpu_util"
PACE = "time of each row, and the planned steps in the config"
FEATURES = (
    Feature("job_cpus", "int", "", "processors allocated to the job", NEEDS),
    Feature("job_cpu_share", "float", "share", "processor time used, as a share of the time allocated", NEEDS),
    Feature("job_gpus", "int", "", "GPUs allocated to the job (0 = the scheduler lists none)", NEEDS),
    Feature("job_gpu_share", "float", "share", "mean GPU utilisation, as sampled by the scheduler", NEEDS),
    Feature("job_memory_most_share", "float", "share", "upper bound of the memory used on a node, as a share of its limit: assumes that all tasks were as large as the largest", NEEDS),
    Feature("job_elapsed_clock", "text", "", "wall time the job ran, in the format of --time", NEEDS),
    Feature("job_limit_clock", "text", "", "wall time limit of the job, in the format of --time", NEEDS),
    Feature("job_wait_reason", "text", "", "reason why the job has not started, as the scheduler gives it", NEEDS),
    Feature("gpu_util_gpus", "int", "", "GPUs whose utilisation was logged", GPU),
    Feature("gpu_util_points", "int", "points", "readings of the GPU with the fewest readings", GPU),
    Feature("gpu_util_lowest", "float", "%", "median utilisation of the least used GPU", GPU),
    Feature("gpu_util_highest", "float", "%", "median utilisation of the busiest GPU", GPU),
    Feature("gpu_util_mean", "float", "%", "mean utilisation of all GPUs over the whole run", GPU),
    Feature("run_left_s", "float", "s", "time that the remaining planned steps would take at the pace of the last session (0 = all done)", PACE),
    Feature("run_needed_s", "float", "s", "time the run took so far plus run_left_s", PACE),
    Feature("run_needed_clock", "text", "", "run_needed_s in the format of --time", PACE),
    Feature("run_left_clock", "text", "", "run_left_s in the format of --time", PACE),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """The features for which there is accounting, machine readings, or a plan and a pace."""
    return {**_accounted(context), **_gpus(context), **_progress(context)}


def _accounted(context: Context) -> Computed:
    mains, steps = accounted(context.run)
    if not mains.height:
        return {}
    elapsed, limit = first(mains, "elapsed_s"), first(mains, "limit_s")
    cpus = first(mains, "cpus")
    waits = (first(mains, "state") or "").startswith("PENDING")
    values: dict[str, FeatureValue] = {
        "job_cpus": cpus,
        "job_cpu_share": ratio(_processor_time(mains, steps), elapsed * cpus if elapsed and cpus else None),
        "job_gpus": first(mains, "gpus"),
        "job_gpu_share": first(pl.concat([mains, steps]).sort("gpu_use", descending=True, nulls_last=True), "gpu_use"),
        "job_memory_most_share": ratio(_most_memory(pl.concat([mains, steps])), first(mains, "memory_limit")),
        "job_elapsed_clock": clock(elapsed),
        "job_limit_clock": clock(limit),
        "job_wait_reason": first(mains, "reason") if waits else None,
    }
    witness = Witness(file=mains["origin"][0])
    return {name: (value, witness) for name, value in values.items() if value is not None}


def _processor_time(mains: pl.DataFrame, steps: pl.DataFrame) -> float | None:
    """Processor time of the job; where only its steps have one, their sum in the account with the largest sum."""
    job: float | None = first(mains, "cpu_s")
    of_steps = steps.drop_nulls("cpu_s").group_by("origin").agg(pl.col("cpu_s").sum())["cpu_s"].max()
    return job if job is not None or not isinstance(of_steps, float) else of_steps


def _most_memory(rows: pl.DataFrame) -> float | None:
    on_node = (pl.col("tasks").fill_null(1) / pl.col("node_count").fill_null(1)).ceil()
    most = rows.select(pl.col("memory_used") * on_node).to_series().max()
    return most if isinstance(most, float) else None


def _gpus(context: Context) -> Computed:
    """Utilisation in per cent. Readings that never exceed 1 may be shares; they count only if all are 0."""
    curves = [c for c in context.with_role(GPU) if "mfu" not in c.metric.lower()]
    whole = [c for c in curves if "process" not in c.metric.lower()] or curves  # one GPU may have both
    finite = [c.values[np.isfinite(c.values)] for c in whole]
    most = max((float(v.max()) for v in finite if v.size), default=math.nan)
    if not finite or not all(v.size for v in finite) or not (most == 0 or most > 1):
        return {}
    medians = [float(np.median(v)) for v in finite]
    idlest, busiest = whole[int(np.argmin(medians))], whole[int(np.argmax(medians))]
    return {
        "gpu_util_gpus": len(finite),
        "gpu_util_points": min(v.size for v in finite),
        "gpu_util_lowest": (min(medians), witness_at(idlest)),
        "gpu_util_highest": (max(medians), witness_at(busiest)),
        "gpu_util_mean": float(np.mean([v.mean() for v in finite])),
    }


def _progress(context: Context) -> Computed:
    """The planned steps compared with the pace; nothing where either is not known."""
    planned, pace = planned_steps(context), _pace(context.curves)
    if planned is None or pace is None:
        return {}
    last, rate = pace
    left = max(planned - last, 0.0) / rate
    run = context.run
    spent = first(accounted(run)[0], "elapsed_s")
    if spent is None and run.started and run.ended:
        spent = (run.ended - run.started).total_seconds()
    needed = None if spent is None else spent + left
    found: Computed = {"run_left_s": left, "run_left_clock": clock(left)}
    return found if needed is None else {**found, "run_needed_s": needed, "run_needed_clock": clock(needed)}


def _pace(curves: Sequence[Curve]) -> tuple[int, float] | None:
    """The last step, and steps per second in the last session, by the curve with most points whose end has a time."""
    timed = [c for c in curves if c.role.name not in COUNTERS and len(c.values) and np.isfinite(c.times[-1])]
    for curve in sorted(timed, key=lambda c: -len(c.values))[:1]:
        last = (curve.sessions == curve.sessions[-1]) & np.isfinite(curve.times)
        steps, times = curve.steps[last], curve.times[last]
        if len(steps) > 1 and steps[-1] > steps[0] and times[-1] > times[0]:
            return int(steps[-1]), float((steps[-1] - steps[0]) / (times[-1] - times[0]))
    return None


def clock(seconds: float | None) -> str | None:
    """The time as `--time` takes it, rounded up to a second: `hours:minutes:seconds`, with days `1-02:00:00`."""
    if seconds is None or not math.isfinite(seconds):
        return None
    whole = math.ceil(seconds)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    return (f"{days}-" if days else "") + f"{hours:02d}:{minutes:02d}:{whole % 60:02d}"
