"""Features of ranks and nodes compared with each other, and of faults of earlier sessions or that the last one
survived.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from loganalyst.blame.rootline import judged_session
from loganalyst.blame.silentranks import silence
from loganalyst.features.collectives import ranges
from loganalyst.features.context import Computed, Context
from loganalyst.features.progress import last_progress
from loganalyst.model import Feature, Run, Witness

NEEDS = "the job logs of all ranks (SLURM output, stdout or stderr)"
FEATURES = (
    Feature("log_survived_count", "int", "lines", "faults that training survived (last session)", NEEDS),
    Feature("log_survived_message", "text", "", "message of the first of them", NEEDS),
    Feature("log_survived_at", "text", "", "place of the first of them, file:line", NEEDS),
    Feature("log_survived_progress", "int", "lines", "lines with metrics after the first of them", NEEDS),
    Feature("log_earlier_failures", "int", "sessions", "earlier sessions that failed or were killed", NEEDS),
    Feature("log_earlier_message", "text", "", "root-cause line of the last of them", NEEDS),
    Feature("log_earlier_at", "text", "", "its place, file:line", NEEDS),
    Feature("log_ranks_waiting", "text", "", "ranks that complained about their peers: timeouts of collectives, lost connections", NEEDS),
    Feature("log_ranks_silent", "text", "", "ranks that did not complain while most others did: they never arrived, or had died", NEEDS),
    Feature("log_ranks_silent_count", "int", "ranks", "number of silent ranks", NEEDS),
    Feature("log_ranks_silent_failed", "bool", "", "each silent rank printed a fault of its own", NEEDS),
    Feature("log_operations_least", "int", "operations", "operations that the silent rank entered, where counts of operations name it", NEEDS),
    Feature("log_operations_reached", "int", "operations", "operations that each other rank had entered at least (0: no counts name a rank)", NEEDS),
    Feature("log_odd_node", "text", "", "the only node of several with faults of hardware, network and storage", NEEDS),
    Feature("log_odd_rank", "int", "", "the only rank of several with such faults", NEEDS),
    Feature("log_odd_count", "int", "lines", "lines that state such faults", NEEDS),
    Feature("log_odd_message", "text", "", "message of the first of them", NEEDS),
    Feature("log_odd_at", "text", "", "place of the first of them, file:line", NEEDS),
    Feature("log_behind_name", "text", "", "the job log, or the rank within one log, whose last step is behind all others", NEEDS),
    Feature("log_behind_file", "text", "", "that job log, or the job log of that rank", NEEDS),
    Feature("log_behind_rank", "int", "", "that rank, or the rank that wrote that log", NEEDS),
    Feature("log_behind_steps", "int", "steps", "steps it is behind the slowest of the others", NEEDS),
)  # fmt: skip

MAX_MESSAGE = 160  # characters
MIN_COMPARED = 3  # job logs, or ranks, to compare
# Labels of faults of a machine. A fault of the program may show on any rank.
_MACHINE_LABELS = (
    "gpu_hardware",
    "node_failure",
    "cuda_error",
    "network",
    "nccl_error",
    "filesystem",
    "disk_full",
    "throughput_drop",
    "hang",
)


def compute(context: Context) -> Computed:
    """The features of the last session; nothing if no job log was read."""
    run = context.run
    if not any(s.format == "text" for s in run.sources):
        return {}
    number = judged_session(run)
    lines = context.lines.filter(session=number)
    earlier = _earlier(context, number)
    return {
        **_survived(lines),
        **earlier,
        **_silent(lines, context.roots.get(number)),
        **_odd(lines),
        **_behind(run, number, lines),
    }


def _earlier(context: Context, number: int) -> Computed:
    """The sessions before `number` that failed, and the root cause of the last one whose cause is known."""
    rows = context.run.sessions.filter(pl.col("session") < number, pl.col("status").is_in(["failed", "killed"]))
    failed = rows["session"].unique().sort().to_list()
    roots = [root for session in failed if (root := context.roots.get(session))]
    if not roots:
        return {"log_earlier_failures": len(failed)}
    root = roots[-1]
    return {
        "log_earlier_failures": len(failed),
        "log_earlier_message": (line_message(root["text"]), line_witness(root)),
        "log_earlier_at": (line_place(root), line_witness(root)),
    }


def _survived(lines: pl.DataFrame) -> Computed:
    in_thread = (pl.col("captures").str.json_path_match("$.printer") == "thread").fill_null(value=False)
    survived = lines.filter(~pl.col("alive"), ~in_thread, part="root").sort("row")  # threads: `sidethreads`
    if not survived.height:
        return {"log_survived_count": 0}
    first = survived.row(0, named=True)
    return {
        "log_survived_count": survived.height,
        "log_survived_message": (line_message(first["text"]), line_witness(first)),
        "log_survived_at": (line_place(first), line_witness(first)),
        "log_survived_progress": first["later"] or None,
    }


def _silent(lines: pl.DataFrame, root: Mapping[str, Any] | None) -> Computed:
    found = silence(lines)
    if found is None:
        return {}
    witness = line_witness(found.first)
    least, reached = found.entered or (0, 0)
    out: Computed = {
        "log_ranks_waiting": (ranges(found.waiting, None), witness),
        "log_ranks_silent_count": len(found.silent),
        "log_operations_least": least,
        "log_operations_reached": reached,
    }
    if not found.silent:
        return out
    own = [root["rank"]] if root and root["part"] != "peer" else []  # of a complaint, it is the rank complained of
    failed = lines.filter(pl.col("alive"), pl.col("part") == "root")["rank"]
    return out | {
        "log_ranks_silent": (ranges(found.silent, None), witness),
        "log_ranks_silent_failed": set(found.silent) <= {*failed, *own},
    }


def _odd(lines: pl.DataFrame) -> Computed:
    of_machine = pl.col("label").is_in(_MACHINE_LABELS)
    faults = lines.filter(pl.col("part").is_in(["root", "symptom", "confirm"]), of_machine).sort("row")
    out: Computed = {}
    for column in ("node", "rank"):
        one = faults[column].unique()
        if len(one) == 1 and one[0] is not None and lines[column].drop_nulls().n_unique() > 1:
            first = faults.row(0, named=True)
            witness = line_witness(first)
            out |= {f"log_odd_{column}": (one[0], witness), "log_odd_count": faults.height}
            out |= {
                "log_odd_message": (line_message(first["text"]), witness),
                "log_odd_at": (line_place(first), witness),
            }
    return out


def _behind(run: Run, session: int, lines: pl.DataFrame) -> Computed:
    """The log, or the rank within one log, whose last step is below all others by more than their logging intervals
    explain.
    """
    logs = [s.path for s in run.sources if s.format == "text"]
    printed = (
        last_progress(run).drop_nulls(["rank", "step"]).filter(pl.col("rank").count().over("file") >= MIN_COMPARED)
    )
    if len(logs) < MIN_COMPARED and not printed.height:
        return {}
    step, line = pl.col("step"), pl.col("line")
    every = (step.max() - step.min()) / (step.n_unique() - 1).clip(1)
    steps = run.points.lazy().filter(pl.col("session") == session, pl.col("source").is_in(logs), step.is_not_null())
    last = steps.group_by(file="source").agg(
        line.sort_by(step).last(), rank=pl.lit(None, pl.Int64), step=step.max(), every=every
    ).collect()  # fmt: skip
    if last.height < MIN_COMPARED:
        last = printed.join(last.select("file", "every"), on="file", how="left").select(last.columns)
    if last.height < MIN_COMPARED:
        return {}
    lowest, slow, *_, fast = (
        last.sort("step", "file", "rank").select("step", "file", "line", "rank").iter_rows(named=True)
    )
    if slow["step"] - lowest["step"] <= max(2 * (last["every"].max() or 1.0), fast["step"] - slow["step"]):  # type: ignore[operator]
        return {"log_behind_steps": 0}
    ranks = lines.filter(file=lowest["file"])["rank"].drop_nulls().unique()
    rank = lowest["rank"] if lowest["rank"] is not None else int(ranks[0]) if len(ranks) == 1 else None
    witness = Witness(step=lowest["step"], file=lowest["file"], line=lowest["line"], rank=rank)
    out: Computed = {
        "log_behind_steps": (slow["step"] - lowest["step"], witness),
        "log_behind_file": (lowest["file"], witness),
        "log_behind_name": (lowest["file"] if lowest["rank"] is None else f"rank {rank} in {lowest['file']}", witness),
    }
    return out | ({} if rank is None else {"log_behind_rank": (rank, witness)})


def line_message(text: str) -> str:
    """What is shown of a line."""
    return text.strip()[:MAX_MESSAGE]


def line_place(row: Mapping[str, Any]) -> str:
    """Where a line is, as file:line."""
    return f"{row['file']}:{row['line']}"


def line_witness(row: Mapping[str, Any]) -> Witness:
    """A line as a witness."""
    return Witness(file=row["file"], line=row["line"], rank=row["rank"], node=row["node"])
