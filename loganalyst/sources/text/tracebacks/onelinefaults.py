"""Faults reported in one line, often by many ranks or threads: device-side asserts, NCCL's watchdog, srun, XLA."""

import polars as pl

from loganalyst.sources.text.tracebacks.stacks import FOUND

# For each kind of line: a word that it contains, kind, exception (None: the line names none) and the regex, with groups
# message, place and function (of a frame), rank, ranks, node. The word saves the regex on most logs: building its
# engine takes longer than running it on a short log.
_KINDS: tuple[tuple[str, str, str | None, str], ...] = (
    (
        # `a.cu:94: operator(): block: [1,0,0], thread: [5,0,0] Assertion `t < n` failed`
        "], thread: [", "cuda", "device-side assert",
        r"(?P<place>[^\s\]]+:\d+): (?:[\w*&]+ )*(?P<function>[\w~]+(?:::[\w~]+)*)[^`]*?:? ?block: "
        r"\[[\d,]+\], thread: \[[\d,]+\]:? (?P<message>Assertion `.*` failed)",
    ),
    (
        # `[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, ...)`
        "Watchdog caught", "nccl", "watchdog timeout",
        r"(?:\[Rank (?P<rank>\d+)\] )?Watchdog caught collective operation timeout: (?P<message>.*)",
    ),
    (
        # `gpu07:77:99 [3] NCCL WARN Call to ibv_modify_qp failed`
        "NCCL WARN", "nccl", "NCCL WARN",
        r"^(?:(?P<node>[\w.-]+?):\d+:\d+ )?(?:\[\d+\] )?NCCL WARN (?P<message>.*)",
    ),
    # `srun: error: gpu07: tasks 0-3,7: Exited with exit code 1`
    ("srun: error: ", "srun", None, r"^srun: error: (?P<node>[\w.-]+): tasks? (?P<ranks>[\d,-]+): (?P<message>.*)"),
    ("srun: error: ", "srun", None, r"^srun: error: (?P<message>Node failure on (?P<node>[\w.-]+).*)"),
    ("srun: error: ", "srun", None, r"^srun: error: (?P<message>.*)"),
    (
        # `slurmstepd: error: *** JOB 7 ON gpu07 CANCELLED AT ...`
        "slurmstepd", "srun", None,
        r"slurmstepd(?:-\S+)?: error: (?P<message>.*(?:\bON|[Nn]ode) (?P<node>[\w.-]+).*)",
    ),
    ("slurmstepd", "srun", None, r"slurmstepd(?:-(?P<node>[\w.-]+))?: error: (?P<message>.*)"),
    ("RESOURCE_EXHAUSTED: ", "xla", "RESOURCE_EXHAUSTED", r"RESOURCE_EXHAUSTED: (?P<message>.*)"),
    (
        # `Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.0GiB`
        "ran out of memory trying", "xla", "RESOURCE_EXHAUSTED",
        r"(?P<message>Allocator \S+ ran out of memory trying to allocate .*)",
    ),
)  # fmt: skip
WORDS = tuple(dict.fromkeys(word for word, *_ in _KINDS))


def find(rows: pl.DataFrame, exceptions: pl.Series) -> pl.DataFrame:
    """The faults in `rows` (body): kind, row (position) as `first` and `last`, exception, message, frame, rank, node,
    and `ranks` as the line lists them (`0-3,7`). Python exceptions, at the positions `exceptions`, are skipped.
    """
    lines = rows.select("body", row=pl.int_range(pl.len())).filter(
        pl.col("body").str.contains_any(list(WORDS)), ~pl.col("row").is_in(exceptions.implode())
    )
    found, joined = [], "\n".join(lines["body"])
    for word, kind, exception, regex in _KINDS:
        if word not in joined:
            continue
        groups = pl.DataFrame({"groups": lines["body"].str.extract_groups(regex)}).unnest("groups")
        hit = groups["message"].is_not_null()
        found.append(_shaped(groups.filter(hit), lines["row"].filter(hit), kind, exception))
        lines = lines.filter(~hit)
    return pl.concat([pl.DataFrame(schema=FOUND), *found], how="diagonal")


def _shaped(groups: pl.DataFrame, row: pl.Series, kind: str, exception: str | None) -> pl.DataFrame:
    """Matched groups in the columns of FOUND."""
    columns = {name: pl.col(name) for name in groups.columns if name in FOUND}
    if "place" in groups.columns:
        columns["frame"] = pl.concat_str(["place", "function"], separator=" in ")
    shaped = groups.select(**columns).with_columns(
        row.alias("first"), row.alias("last"), kind=pl.lit(kind), exception=pl.lit(exception, pl.String)
    )
    return shaped.select(pl.col(name).cast(FOUND[name], strict=False) for name in shaped.columns)
