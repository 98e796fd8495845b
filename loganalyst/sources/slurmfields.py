"""What SLURM's accounting fields mean: texts as `sacct` prints them become the `jobs` table."""

import math
import re
from collections.abc import Iterator

import polars as pl

from loganalyst.model import Time, table

STATES = (
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SPECIAL_EXIT", "STAGE_OUT",
    "STOPPED", "SUSPENDED", "TIMEOUT",
)  # fmt: skip
FIELDS = (
    "JobID", "JobIDRaw", "JobName", "State", "ExitCode", "Start", "End", "Elapsed", "ElapsedRaw", "Timelimit",
    "TimelimitRaw", "ReqMem", "MaxRSS", "NodeList", "NNodes", "AllocNodes", "AllocCPUS", "NCPUS", "ReqCPUS",
)  # fmt: skip
_ABSENT = ["", "Unknown", "None", "NONE", "N/A", "None assigned", "(null)", "UNLIMITED", "Partition_Limit", "INVALID"]
_BYTES = {"": 1.0} | {unit: 1024.0**power for power, unit in enumerate("KMGTPE", 1)}
_CHECKED = ("State", "ExitCode", "Start", "End", "Elapsed", "Timelimit", "ReqMem", "MaxRSS")


def jobs(raw: pl.DataFrame, origin: str) -> tuple[pl.DataFrame, list[str]]:
    """Rows of `jobs` from texts under the names of FIELDS (missing ones are not known), and what was not understood.

    Times without a zone count as UTC. `memory_limit` is that of one node (bytes): a total is divided by the nodes.
    """
    texts = raw.select(_given(f) if f in raw.columns else pl.lit(None, pl.String).alias(f) for f in FIELDS)
    texts = texts.with_columns(JobID=pl.coalesce("JobID", "JobIDRaw"))
    known = texts.filter(pl.col("JobID").is_not_null()).with_columns(nodes=_nodes(texts.drop_nulls("JobID")))
    parsed = known.with_columns(
        parsed_State=pl.when(_word("State").is_in(STATES)).then("State"),
        parsed_ExitCode=pl.col("ExitCode").str.extract_groups(r"^(\d+):(\d+)$").struct.field("1"),
        parsed_Start=_time("Start"),
        parsed_End=_time("End"),
        parsed_Elapsed=_seconds("Elapsed"),
        parsed_Timelimit=_seconds("Timelimit"),
        parsed_ReqMem=_bytes("ReqMem"),
        parsed_MaxRSS=_bytes("MaxRSS"),
    )
    missing = texts.height - known.height
    faults = [*([f"{missing} rows without a job id"] if missing else []), *_not_understood(parsed)]
    return _table(parsed, origin), faults


def _table(parsed: pl.DataFrame, origin: str) -> pl.DataFrame:
    rows = parsed.select(
        job="JobID",
        name="JobName",
        state="State",
        exit_code=pl.col("ExitCode").str.extract(r"^(\d+):\d+$").cast(pl.Int64, strict=False),
        signal=pl.col("ExitCode").str.extract(r"^\d+:(\d+)$").cast(pl.Int64, strict=False),
        started="parsed_Start",
        # of a running job scontrol prints the end it would have at its limit
        ended=pl.when(~_word("State").is_in(["RUNNING", "PENDING", "SUSPENDED"]).fill_null(value=False)).then(
            "parsed_End"
        ),
        elapsed_s=pl.coalesce("parsed_Elapsed", pl.col("ElapsedRaw").cast(pl.Float64, strict=False)),
        limit_s=pl.coalesce("parsed_Timelimit", 60 * pl.col("TimelimitRaw").cast(pl.Float64, strict=False)),
        memory_used=_positive(pl.col("parsed_MaxRSS")),  # 0: shorter than the first sample
        memory_limit=_positive(_node_memory()),
        nodes="NodeList",
        origin=pl.lit(origin),
    )
    return rows.cast(table("jobs").schema)


def _given(field: str) -> pl.Expr:
    text = pl.col(field).str.strip_chars()
    return pl.when(~text.is_in(_ABSENT)).then(text).alias(field)


def _word(field: str) -> pl.Expr:
    """The state without what follows it: `CANCELLED by 1000`, or a plus sign where the column was cut."""
    return pl.col(field).str.extract(r"^([A-Z_]+)")


def _time(field: str) -> pl.Expr:
    return (
        pl.col(field)
        .str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False)
        .cast(pl.Datetime("us"))
        .dt.replace_time_zone("UTC")
        .cast(Time)
    )


def _seconds(field: str) -> pl.Expr:
    """`[days-][hours:]minutes:seconds`."""
    parts = pl.col(field).str.extract_groups(r"^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?$")
    days, hours, minutes, seconds = (parts.struct.field(str(i)).cast(pl.Float64) for i in (1, 2, 3, 4))
    return days.fill_null(0) * 86400 + hours.fill_null(0) * 3600 + minutes * 60 + seconds


def _bytes(field: str) -> pl.Expr:
    """`47844K`, `100M`, `4Gn`; a bare number is bytes (in a request its unit is not known)."""
    parts = pl.col(field).str.extract_groups(r"^(\d+(?:\.\d+)?)([KMGTPE]?)([nc]?)$")
    unit = parts.struct.field("2").replace_strict(_BYTES, return_dtype=pl.Float64, default=None)
    return parts.struct.field("1").cast(pl.Float64, strict=False) * unit


def _node_memory() -> pl.Expr:
    """Memory a node allows: a request is for the job in all, `n` for each node, `c` for each CPU (before 21.08)."""
    asked, kind = pl.col("parsed_ReqMem"), pl.col("ReqMem").str.slice(-1)
    nodes = pl.col("nodes").fill_null(1)  # most jobs have one; with more the true limit is lower
    cpus = pl.coalesce("AllocCPUS", "NCPUS", "ReqCPUS").cast(pl.Float64, strict=False)
    total = pl.when(kind == "c").then(asked * cpus).when(kind.str.contains(r"[A-Z]")).then(asked)
    return pl.when(kind == "n").then(asked).otherwise(total / nodes)


def _positive(value: pl.Expr) -> pl.Expr:
    return pl.when((value > 0) & value.is_finite()).then(value)


def _nodes(texts: pl.DataFrame) -> pl.Series:
    """How many nodes each row has: as counted by SLURM, else by the names in the list."""
    counted = pl.coalesce("NNodes", "AllocNodes").cast(pl.Int64, strict=False)
    sizes = {names: count(names) for names in texts["NodeList"].drop_nulls().unique()}
    listed = pl.col("NodeList").replace_strict(list(sizes), list(sizes.values()), return_dtype=pl.Int64, default=None)
    return texts.select(_positive(pl.coalesce(counted, listed) if sizes else counted).alias("nodes"))["nodes"]


def count(names: str) -> int | None:
    """The number of nodes in a list such as `n[1-3,7],gpu01`; None where it is not well formed."""
    outside = re.sub(r"\[[\d,-]*\]", "", names)
    if "[" in outside or "]" in outside:
        return None
    return sum(math.prod(_widths(name)) for name in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", names)) or None


def _widths(name: str) -> Iterator[int]:
    for brackets in re.findall(r"\[([^\]]*)\]", name):
        ranges = [part.partition("-") for part in brackets.split(",") if part]
        yield sum(max(int(last or first) - int(first), 0) + 1 for first, _, last in ranges if first.isdecimal())


def _not_understood(parsed: pl.DataFrame) -> Iterator[str]:
    for name in _CHECKED:
        bad = parsed.filter(pl.col(name).is_not_null(), pl.col(f"parsed_{name}").is_null())[name]
        if len(bad):
            yield f"{len(bad)} values of {name} not understood, such as {bad[0][:40]!r}"
