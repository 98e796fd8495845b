"""What a rank says of its peers, and whether what befell a peer is known: then the complaint is a consequence."""

import polars as pl

_LABEL, _RANK = pl.col("label"), pl.col("rank")
# Whoever reports these does so when all is over: the line may stand behind what it led to.
_REPORTED_LATE = _LABEL.is_in(["host_oom", "node_failure", "gpu_hardware"])
_KILLED = _LABEL.is_in(["host_oom", "segfault", "shm"]) | pl.col("text").str.contains(r"\bKilled\b")


def explained(lines: pl.DataFrame) -> pl.Series:
    """The `row` of each complaint (part `peer`) that another line explains: a rank's own fault that came before it, or
    befell a rank that never complained, or is reported late by its nature; or the first exit of a task, where a signal
    ended it or it never complained. `lines` are those that nothing survived, as `outlived` gives them.
    """
    peers, own = lines.filter(part="peer"), lines.filter(part="root")
    if not peers.height:
        return peers["row"]
    waited = peers["rank"].drop_nulls().unique()
    quiet = (_RANK.is_not_null() & ~_RANK.is_in(waited.implode())) if len(waited) else pl.lit(value=False)
    exits = lines.filter(_exit()).sort("clock", "line", nulls_last=True)
    tasks = lines.filter(pl.col("pattern").str.starts_with("slurm-task"))["rank"].drop_nulls().unique()
    first = exits.head(1).filter(_KILLED | (quiet & waited.is_in(tasks.implode()).all()))
    if first.height:
        return peers["row"]
    causes = own.select("file", "line", "clock", anyway=(quiet | _REPORTED_LATE).fill_null(value=False))
    pairs = peers.select("row", "file", "line", "clock").join(causes, how="cross", suffix="_own")
    by_time = pl.col("clock_own") <= pl.col("clock")
    by_place = (pl.col("file") != pl.col("file_own")) | (pl.col("line_own") < pl.col("line"))
    return pairs.filter(pl.col("anyway") | pl.coalesce(by_time, by_place))["row"].unique()


def _exit() -> pl.Expr:
    return (pl.col("part") == "confirm") & _LABEL.is_not_null()
