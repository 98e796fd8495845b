"""Features from the scheduler's accounting: how the job ended, and how much of its time and memory it used."""

from typing import Any

import polars as pl

from loganalyst.features.context import Computed, Context, ratio
from loganalyst.model import Feature, FeatureValue, Run, Witness

NEEDS = "SLURM accounting (sacct -P, sacct --json or scontrol show job)"
FEATURES = (
    Feature("run_job", "text", "", "id of the scheduler's job that produced the run, whether or not its accounting was read", "a job's id in the log's name or lines, or SLURM accounting"),
    Feature("job_id", "text", "", "id of the job in the accounting that was read", NEEDS),
    Feature("job_state", "text", "", "state the scheduler gave the job: completed, failed, timeout, out_of_memory, node_fail, preempted, cancelled, running …", NEEDS),
    Feature("job_end", "text", "", "how the job ended, unless a line of the log names an earlier fault: its state; step_failed or step_out_of_memory if only a step of it failed", NEEDS),
    Feature("job_cancelled_by", "text", "", "who cancelled the job: a name, or `user 1000`, as sacct -P prints it", NEEDS),
    Feature("job_exit_code", "int", "", "exit code of the job; where it has none, of the first step that has one other than 0", NEEDS),
    Feature("job_signal", "int", "", "signal that ended the job; where it has none, the signal that ended one of its steps (125: out of memory)", NEEDS),
    Feature("job_elapsed_s", "float", "s", "wall time the job ran", NEEDS),
    Feature("job_limit_s", "float", "s", "wall time limit of the job", NEEDS),
    Feature("job_elapsed_share", "float", "share", "wall time used, as a share of the limit", NEEDS),
    Feature("job_memory_used_gib", "float", "GiB", "largest memory of a task, as sampled (the true peak may be higher)", NEEDS),
    Feature("job_memory_limit_gib", "float", "GiB", "memory limit of the job on a node", NEEDS),
    Feature("job_memory_share", "float", "share", "largest sampled memory of a task as a share of the limit on a node", NEEDS),
    Feature("job_nodes", "text", "", "nodes the job ran on", NEEDS),
)  # fmt: skip

_GIB = 2.0**30
_UNCLEAR_LABELS = ("none", "other", "slurm_cancelled")  # where the log ends so, the scheduler knows more
_LABELS_OF_ENDS = {
    "timeout": "slurm_timeout",
    "out_of_memory": "host_oom",
    "step_out_of_memory": "host_oom",
    "node_fail": "node_failure",
    "preempted": "slurm_preempted",
}
_STATE_SYNONYMS = {"deadline": "timeout", "boot_fail": "node_fail"}
_CRASH_SIGNALS = (4, 6, 7, 8, 9, 11, 125)  # signals that are never sent for an orderly stop
_UNFINISHED_STATES = ("running", "pending", "completing", "configuring", "suspended", "requeued")


def compute(context: Context) -> Computed:
    """The features of the run's own job; only its id where no accounting of it was read."""
    run = context.run
    mains, steps = accounted(run)
    if not mains.height:
        return {"run_job": run.job} if run.job else {}
    state = _state_word(first(mains, "state"))
    elapsed, limit = first(mains, "elapsed_s"), first(mains, "limit_s")
    used = first(pl.concat([mains, steps]).sort("memory_used", descending=True), "memory_used")
    allowed = first(mains, "memory_limit")
    values: dict[str, FeatureValue] = {
        "run_job": run.job,
        "job_id": run.job,
        "job_state": state,
        "job_end": _end(context, state, steps),
        "job_cancelled_by": _canceller(first(mains, "state")),
        "job_exit_code": _code(mains, steps, "exit_code"),
        "job_signal": _code(mains, steps, "signal"),
        "job_elapsed_s": elapsed,
        "job_limit_s": limit,
        "job_elapsed_share": ratio(elapsed, limit),
        "job_memory_used_gib": ratio(used, _GIB),
        "job_memory_limit_gib": ratio(allowed, _GIB),
        "job_memory_share": ratio(used, allowed),
        "job_nodes": first(mains, "nodes"),
    }
    witness = Witness(file=mains["origin"][0])
    return {name: (value, witness) for name, value in values.items() if value is not None}


def accounted(run: Run) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of the run's own job: its row in each account, accounts that saw its end first; and the steps of its
    last start.
    """
    if not run.jobs.height:
        return run.jobs, run.jobs
    job = run.job or ""
    rows = run.jobs.with_row_index("row").filter(pl.col("job").str.extract(r"^([^.]+)") == job)
    main = pl.col("job") == job
    begin = pl.col("row").filter(main).max().over("origin")
    mains = rows.filter(main & (pl.col("row") == begin))
    mains = mains.sort(
        pl.col("state").str.to_lowercase().is_in(_UNFINISHED_STATES), maintain_order=True, nulls_last=True
    )
    steps = rows.filter(~main & (pl.col("row") > begin) & ~pl.col("job").str.ends_with(".extern"))
    return mains.drop("row"), steps.drop("row")


def first(rows: pl.DataFrame, column: str) -> Any:
    """The first known value; None if there is none."""
    known = rows[column].drop_nulls()
    return known[0] if len(known) else None


def _state_word(state: str | None) -> str | None:
    """The state without its suffix (`CANCELLED by 1000`, or a plus sign where it was cut)."""
    return state.split(" ")[0].rstrip("+").lower() or None if state else None


def _canceller(state: str | None) -> str | None:
    _, by, user = (state or "").partition(" by ")
    return (f"user {user}" if user.isdecimal() else user) or None if by else None


def _code(mains: pl.DataFrame, steps: pl.DataFrame, column: str) -> int | None:
    own: int | None = first(mains, column)
    of_steps: int | None = None if own else first(steps.filter(pl.col(column) != 0), column)
    return own if of_steps is None else of_steps


def _end(context: Context, state: str | None, steps: pl.DataFrame) -> str | None:
    if state is None or state in _UNFINISHED_STATES:
        return None
    end = _STATE_SYNONYMS.get(state, state)
    logs = any(s.format == "text" for s in context.run.sources)
    states = {_state_word(s) for s in steps["state"].drop_nulls()}
    crashed = "failed" in states or steps["signal"].is_in(_CRASH_SIGNALS).any()
    if end in ("completed", "failed") and "out_of_memory" in states:
        end = "step_out_of_memory"
    elif end == "completed" and crashed and not logs:  # where there is a log, it shows whether that mattered
        end = "step_failed"
    root = context.roots[max(context.roots)] if logs and context.roots else None
    label = root["label"] if root else "none"
    return end if label in (*_UNCLEAR_LABELS, _LABELS_OF_ENDS.get(end)) else None
