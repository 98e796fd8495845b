"""Ranks and nodes beside each other, and what the last session outlived: who never reported, who is not like the rest."""

from collections.abc import Iterable

import polars as pl

from loganalyst.features.blame import judged_session
from loganalyst.features.context import Computed, Context
from loganalyst.features.silence import silence
from loganalyst.features.survival import outlived
from loganalyst.model import Feature, Run, Witness

NEEDS = "the job logs of all ranks (SLURM output, stdout or stderr)"
FEATURES = (
    Feature("log_survived_count", "int", "lines", "faults that training went on after (last session)", NEEDS),
    Feature("log_survived_message", "text", "", "the first of them", NEEDS),
    Feature("log_survived_at", "text", "", "where it stands, file:line", NEEDS),
    Feature("log_survived_progress", "int", "lines", "lines with metrics after the first of them", NEEDS),
    Feature("log_ranks_waiting", "text", "", "ranks that complained of their peers: timeouts of collectives, lost connections", NEEDS),
    Feature("log_ranks_silent", "text", "", "ranks that never complained while most others did: they did not come, or had died", NEEDS),
    Feature("log_ranks_silent_count", "int", "ranks", "how many those are", NEEDS),
    Feature("log_odd_node", "text", "", "the one node of several that all faults of hardware, network and storage come from", NEEDS),
    Feature("log_odd_rank", "int", "", "the one rank of several that all those faults come from", NEEDS),
    Feature("log_odd_count", "int", "lines", "how many such lines there are", NEEDS),
    Feature("log_odd_message", "text", "", "the first of them", NEEDS),
    Feature("log_odd_at", "text", "", "where it stands, file:line", NEEDS),
    Feature("log_behind_file", "text", "", "the one job log of several whose last step stays behind all others'", NEEDS),
    Feature("log_behind_rank", "int", "", "the rank that wrote it", NEEDS),
    Feature("log_behind_steps", "int", "steps", "by how many steps it stays behind the slowest of the others", NEEDS),
)  # fmt: skip

SHORT = 160  # characters of a message
FEWEST = 3  # job logs that can be compared
# Faults of one machine; a mistake in the program shows on whichever rank meets it first.
_MACHINE = (
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
    """The features of the last session; all None where no job log was read."""
    run = context.run
    if not any(s.format == "text" for s in run.sources):
        return {}
    number = judged_session(run)
    points = run.points.filter(session=number)
    lines = outlived(run.lines.filter(session=number), points)
    return {**_survived(lines), **_silent(lines), **_odd(lines), **_behind(run, points, lines)}


def _survived(lines: pl.DataFrame) -> Computed:
    gone = lines.filter(~pl.col("alive"), part="root").sort("row")
    if not gone.height:
        return {"log_survived_count": 0}
    first = gone.row(0, named=True)
    return {
        "log_survived_count": gone.height,
        "log_survived_message": (_message(first["text"]), _witness(first)),
        "log_survived_at": (_at(first), _witness(first)),
        "log_survived_progress": first["later"] or None,
    }


def _silent(lines: pl.DataFrame) -> Computed:
    found = silence(lines)
    if found is None:
        return {}
    witness = _witness(found.first)
    told: Computed = {
        "log_ranks_waiting": (_spans(found.waiting), witness),
        "log_ranks_silent_count": len(found.silent),
    }
    return told | ({"log_ranks_silent": (_spans(found.silent), witness)} if found.silent else {})


def _odd(lines: pl.DataFrame) -> Computed:
    of_machine = pl.col("label").is_in(_MACHINE)
    faults = lines.filter(pl.col("part").is_in(["root", "symptom", "confirm"]), of_machine).sort("row")
    told: Computed = {}
    for column in ("node", "rank"):
        one = faults[column].unique()
        if len(one) == 1 and one[0] is not None and lines[column].drop_nulls().n_unique() > 1:
            first = faults.row(0, named=True)
            witness = _witness(first)
            told |= {f"log_odd_{column}": (one[0], witness), "log_odd_count": faults.height}
            told |= {"log_odd_message": (_message(first["text"]), witness), "log_odd_at": (_at(first), witness)}
    return told


def _behind(run: Run, points: pl.DataFrame, lines: pl.DataFrame) -> Computed:
    """The log whose last step is below all others'; whoever logs less often is not behind by a step or two."""
    logs = [s.path for s in run.sources if s.format == "text"]
    if len(logs) < FEWEST:
        return {}
    steps = points.filter(pl.col("source").is_in(logs)).drop_nulls("step")
    step = pl.col("step")
    every = (step.max() - step.min()) / (step.n_unique() - 1).clip(1)
    last = steps.group_by("source").agg(step=step.max(), every=every).sort("step", "source")
    if last.height < FEWEST:
        return {}
    (file, own, _), (_, slowest, _), *_, (_, most, _) = last.rows()
    if slowest - own <= max(2 * float(last["every"].to_numpy().max()), most - slowest):
        return {"log_behind_steps": 0}
    at = steps.filter(source=file, step=own)
    witness = Witness(at["metric"][0], own, file, at["line"][0])
    told: Computed = {"log_behind_steps": (slowest - own, witness), "log_behind_file": (file, witness)}
    ranks = lines.filter(file=file)["rank"].drop_nulls().unique()
    return told | ({"log_behind_rank": (int(ranks[0]), witness)} if len(ranks) == 1 else {})


def _spans(ranks: Iterable[int]) -> str:
    """`0-2, 5` of 0, 1, 2, 5."""
    out: list[list[int]] = []
    for rank in ranks:
        if out and rank == out[-1][1] + 1:
            out[-1][1] = rank
        else:
            out.append([rank, rank])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def _message(text: str) -> str:
    return text.strip()[:SHORT]


def _at(row: dict[str, object]) -> str:
    return f"{row['file']}:{row['line']}"


def _witness(row: dict[str, object]) -> Witness:
    return Witness(file=row["file"], line=row["line"], rank=row["rank"], node=row["node"])  # type: ignore[arg-type]
