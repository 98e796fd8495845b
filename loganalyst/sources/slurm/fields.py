"""SLURM's accounting fields: texts as `sacct` prints them become the `jobs` table."""

from collections.abc import Iterator
from functools import cache

import polars as pl

from loganalyst.model import SCHEMAS
from loganalyst.sources.slurm import units

STATES = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SPECIAL_EXIT", "STAGE_OUT",
    "STOPPED", "SUSPENDED", "TIMEOUT",
)  # fmt: skip
FIELDS = (
    "JobID", "JobIDRaw", "JobName", "State", "ExitCode", "Start", "End", "Elapsed", "ElapsedRaw", "Timelimit",
    "TimelimitRaw", "ReqMem", "MaxRSS", "NodeList", "NNodes", "AllocNodes", "AllocCPUS", "NCPUS", "ReqCPUS", "NTasks",
    "TotalCPU", "AllocTRES", "ReqTRES", "TRESUsageInAve", "TRESUsageInTot", "Reason",
    "User", "Partition",
)  # fmt: skip
_ABSENT = ["", "Unknown", "None", "NONE", "N/A", "None assigned", "(null)", "UNLIMITED", "Partition_Limit", "INVALID"]
_UNITS = {
    "Start": units.time, "End": units.time, "Elapsed": units.seconds, "Timelimit": units.seconds,
    "TotalCPU": units.seconds, "ReqMem": units.size, "MaxRSS": units.size,
}  # fmt: skip
_NOT_ENDED = ("RUNNING", "PENDING", "SUSPENDED")


def jobs(raw: pl.DataFrame, origin: str) -> tuple[pl.DataFrame, list[str]]:
    """Rows of `jobs` from texts under the names in FIELDS, which may be missing; and what could not be parsed.

    Times without a zone count as UTC. `memory_limit` (bytes) is that of one node: a total is divided by the nodes.
    """
    none = pl.Series("", [None], pl.String).new_from_index(0, raw.height)
    present = raw.select(_without_blanks(f) for f in FIELDS if f in raw.columns)
    texts = pl.DataFrame([present[f] if f in present.columns else none.alias(f) for f in FIELDS])
    known = texts.with_columns(JobID=pl.coalesce("JobID", "JobIDRaw")).drop_nulls("JobID")
    parsed = known.with_columns(nodes=_nodes(known), **_parsers())
    unnamed = texts.height - known.height
    faults = [*([f"{unnamed} rows without a job id"] if unnamed else []), *_not_understood(parsed)]
    columns = {**_columns(), "origin": pl.lit(origin)}
    return parsed.select(columns[name].cast(dtype).alias(name) for name, dtype in SCHEMAS["jobs"].items()), faults


@cache  # building the expressions takes longer than evaluating them for the jobs of a run
def _parsers() -> dict[str, pl.Expr]:
    """The expressions that parse texts, by the name of the new column."""
    return {
        **{f"parsed_{name}": parse(name) for name, parse in _UNITS.items()},
        "parsed_State": pl.when(_word("State").is_in(STATES)).then("State"),
        "parsed_ExitCode": pl.col("ExitCode").str.extract_groups(r"^(\d+):(\d+)$").struct.field("1"),
        "gpus": units.gpus(pl.coalesce("AllocTRES", "ReqTRES")),
        "memory": units.memory("AllocTRES"),
        "tasks": units.number("NTasks"),
        "cpus": units.number("AllocCPUS", "NCPUS", "ReqCPUS"),
    }


@cache
def _columns() -> dict[str, pl.Expr]:
    """The columns of `jobs`, except the origin."""
    return {
        "tasks": pl.col("tasks"),
        "cpus": pl.col("cpus"),
        "gpus": pl.col("gpus"),
        "job": pl.col("JobID"),
        "name": pl.col("JobName"),
        "state": pl.col("State"),
        "exit_code": pl.col("ExitCode").str.extract(r"^(\d+):\d+$").cast(pl.Int64, strict=False),
        "signal": pl.col("ExitCode").str.extract(r"^\d+:(\d+)$").cast(pl.Int64, strict=False),
        "started": pl.col("parsed_Start"),
        # for a running job, scontrol prints the end that it would have at its limit
        "ended": pl.when(~_word("State").is_in(_NOT_ENDED).fill_null(value=False)).then("parsed_End"),
        "elapsed_s": pl.coalesce("parsed_Elapsed", pl.col("ElapsedRaw").cast(pl.Float64, strict=False)),
        "limit_s": pl.coalesce("parsed_Timelimit", 60 * pl.col("TimelimitRaw").cast(pl.Float64, strict=False)),
        "memory_used": units.positive(pl.col("parsed_MaxRSS")),  # 0: the job ended before the first sample
        "memory_limit": units.positive(_node_memory()),
        "nodes": pl.col("NodeList"),
        "node_count": pl.col("nodes"),
        "cpu_s": units.positive(pl.col("parsed_TotalCPU")),
        "gpu_use": _gpu_use(),
        "reason": pl.col("Reason"),
        "user": pl.col("User"),
        "partition": pl.col("Partition"),
    }


@cache
def _without_blanks(field: str) -> pl.Expr:
    text = pl.col(field).str.strip_chars()
    return pl.when(~text.is_in(_ABSENT)).then(text).alias(field)


def _word(field: str) -> pl.Expr:
    """The first word of a state: `CANCELLED by 1000`, or `CANCELLED+` where the column was cut."""
    return pl.col(field).str.extract(r"^([A-Z_]+)")


def _node_memory() -> pl.Expr:
    """The memory limit of one node: what the job was given, else what it requested.

    Releases before 21.08 append `n` (per node) or `c` (per CPU) to a request; otherwise it is the total.
    """
    asked, kind = pl.col("parsed_ReqMem"), pl.col("ReqMem").str.slice(-1)
    nodes = pl.col("nodes").fill_null(1)  # most jobs have one node; with more, the true limit is lower
    given = pl.when(~pl.col("JobID").str.contains(".", literal=True)).then(units.positive(pl.col("memory")))
    total = pl.when(kind == "c").then(asked * pl.col("cpus")).when(kind.str.contains(r"[A-Z]")).then(asked)
    return pl.coalesce(given / nodes, pl.when(kind == "n").then(asked).otherwise(total / nodes))


def _gpu_use() -> pl.Expr:
    """Mean utilisation of one GPU, from 0 to 1."""
    of_tasks = units.gpu_per_cent("TRESUsageInAve") * pl.col("tasks").fill_null(1)
    return pl.coalesce(units.gpu_per_cent("TRESUsageInTot"), of_tasks) / 100 / units.positive(pl.col("gpus"))


def _nodes(texts: pl.DataFrame) -> pl.Expr:
    """The number of nodes of each row: as counted by SLURM, else by the names in the list."""
    counted = pl.coalesce("NNodes", "AllocNodes").cast(pl.Int64, strict=False)
    sizes = {names: units.count(names) for names in set(texts["NodeList"].drop_nulls())}
    listed = pl.col("NodeList").replace_strict(list(sizes), list(sizes.values()), return_dtype=pl.Int64, default=None)
    return units.positive(pl.coalesce(counted, listed) if sizes else counted)


def _not_understood(parsed: pl.DataFrame) -> Iterator[str]:
    for name in ("State", "ExitCode", *_UNITS):
        if parsed[f"parsed_{name}"].null_count() > parsed[name].null_count():
            bad = parsed.filter(pl.col(name).is_not_null(), pl.col(f"parsed_{name}").is_null())[name]
            yield f"{len(bad)} values of {name} not understood, such as {bad[0][:40]!r}"
