"""Faults told in one line, often by many ranks or threads: device-side asserts, NCCL's watchdog, srun, XLA."""

import polars as pl

from loganalyst.sources.text.tracebacks.stacks import FOUND

# a word of each (few logs have most of these, and making an engine of a regex costs more than it does on a short log),
# kind, exception (None: the line names none), and the groups message, frame's place and function, rank, ranks, node
_KINDS: tuple[tuple[str, str, str | None, str], ...] = (
    (
        "], thread: [", "cuda", "device-side assert",
        r"(?P<place>[^\s\]]+:\d+): (?:[\w*&]+ )*(?P<function>[\w~]+(?:::[\w~]+)*)[^`]*?:? ?block: "
        r"\[[\d,]+\], thread: \[[\d,]+\]:? (?P<message>Assertion `.*` failed)",
    ),
    (
        "Watchdog caught", "nccl", "watchdog timeout",
        r"(?:\[Rank (?P<rank>\d+)\] )?Watchdog caught collective operation timeout: (?P<message>.*)",
    ),
    (
        "NCCL WARN", "nccl", "NCCL WARN",
        r"^(?:(?P<node>[\w.-]+?):\d+:\d+ )?(?:\[\d+\] )?NCCL WARN (?P<message>.*)",
    ),
    ("srun: error: ", "srun", None, r"^srun: error: (?P<node>[\w.-]+): tasks? (?P<ranks>[\d,-]+): (?P<message>.*)"),
    ("srun: error: ", "srun", None, r"^srun: error: (?P<message>Node failure on (?P<node>[\w.-]+).*)"),
    ("srun: error: ", "srun", None, r"^srun: error: (?P<message>.*)"),
    (
        "slurmstepd", "srun", None,
        r"slurmstepd(?:-\S+)?: error: (?P<message>.*(?:\bON|[Nn]ode) (?P<node>[\w.-]+).*)",
    ),
    ("slurmstepd", "srun", None, r"slurmstepd(?:-(?P<node>[\w.-]+))?: error: (?P<message>.*)"),
    ("RESOURCE_EXHAUSTED: ", "xla", "RESOURCE_EXHAUSTED", r"RESOURCE_EXHAUSTED: (?P<message>.*)"),
    (
        "ran out of memory trying", "xla", "RESOURCE_EXHAUSTED",
        r"(?P<message>Allocator \S+ ran out of memory trying to allocate .*)",
    ),
)  # fmt: skip
WORDS = tuple(dict.fromkeys(word for word, *_ in _KINDS))


def find(rows: pl.DataFrame, exceptions: pl.Series) -> pl.DataFrame:
    """The faults in `rows` (body): kind, row (position) as `first` and `last`, exception, message, frame, rank, node,
    and `ranks` as the line lists them (`0-3,7`). Python exceptions, at the positions `exceptions`, are none.
    """
    told = rows.select("body", row=pl.int_range(pl.len())).filter(
        pl.col("body").str.contains_any(list(WORDS)), ~pl.col("row").is_in(exceptions.implode())
    )
    found, said = [], "\n".join(told["body"])
    for word, kind, exception, regex in _KINDS:
        if word not in said:
            continue
        groups = pl.DataFrame({"said": told["body"].str.extract_groups(regex)}).unnest("said")
        hit = groups["message"].is_not_null()
        found.append(_shaped(groups.filter(hit), told["row"].filter(hit), kind, exception))
        told = told.filter(~hit)
    return pl.concat([pl.DataFrame(schema=FOUND), *found], how="diagonal")


def _shaped(groups: pl.DataFrame, row: pl.Series, kind: str, exception: str | None) -> pl.DataFrame:
    said = {name: pl.col(name) for name in groups.columns if name in FOUND}
    if "place" in groups.columns:
        said["frame"] = pl.concat_str(["place", "function"], separator=" in ")
    shaped = groups.select(**said).with_columns(
        row.alias("first"), row.alias("last"), kind=pl.lit(kind), exception=pl.lit(exception, pl.String)
    )
    return shaped.select(pl.col(name).cast(FOUND[name], strict=False) for name in shaped.columns)
