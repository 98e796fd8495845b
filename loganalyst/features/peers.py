"""What a rank says of its peers, and whether what befell a peer is known: then the complaint is a consequence."""

import polars as pl

_LABEL, _RANK = pl.col("label"), pl.col("rank")
# Whoever reports these does so when all is over: the line may stand behind what it led to.
_REPORTED_LATE = _LABEL.is_in(["host_oom", "node_failure", "gpu_hardware"])
# No peer's end leads to these. Of lines without a time and a rank the order in the file says little: ranks are flushed.
_NO_CONSEQUENCE = _LABEL.is_in(["cuda_oom", "device_assert"]) & pl.col("clock").is_null() & _RANK.is_null()
_KILLED = _LABEL.is_in(["host_oom", "segfault", "shm"]) | pl.col("text").str.contains(r"\bKilled\b")


def explained(lines: pl.DataFrame) -> pl.Series:
    """The `row` of each complaint (part `peer`) that another line explains: a rank's own fault that came before it, or
    befell a rank that never complained, is reported late by its nature, or follows from no peer's end; or the first exit of a task, where a signal
    ended it or it never complained. `lines` are those that nothing survived, as `outlived` gives them.
    """
    peers = lines.filter(part="peer")
    own = lines.filter(_LABEL.ne_missing("user_interrupt"), part="root")  # a launcher interrupts those that are left
    if not peers.height:
        return peers["row"]
    waited = peers["rank"].drop_nulls().unique()
    quiet = (_RANK.is_not_null() & ~_RANK.is_in(waited.implode())) if len(waited) else pl.lit(value=False)
    exits = lines.filter(_exit()).sort("clock", "line", nulls_last=True)
    tasks = lines.filter(pl.col("pattern").str.starts_with("slurm-task"))["rank"].drop_nulls().unique()
    first = exits.head(1).filter(_KILLED | (quiet & waited.is_in(tasks.implode()).all()))
    if first.height:
        return peers["row"]
    if own.select((quiet | _REPORTED_LATE | _NO_CONSEQUENCE).fill_null(value=False).any()).item():
        return peers["row"]
    untimed = own.filter(pl.col("clock").is_null())
    by_time = pl.col("clock") >= pl.lit(own["clock"].min(), pl.String)
    behind = pl.when(pl.col("clock").is_null()).then(_behind(peers, own)).otherwise(_behind(peers, untimed) | by_time)
    return peers.filter(behind.fill_null(value=False))["row"]


def _behind(peers: pl.DataFrame, own: pl.DataFrame) -> pl.Series:
    """Whether a fault stands before each complaint in its file, or in another file, whose lines have no order to it."""
    of = own.group_by("file").agg(first=pl.col("line").min(), faults=pl.len())
    beside = peers.join(of, on="file", how="left", maintain_order="left")
    elsewhere = own.height - pl.col("faults").fill_null(0) > 0
    return beside.select((pl.col("first") < pl.col("line")).fill_null(value=False) | elsewhere).to_series()


def _exit() -> pl.Expr:
    return (pl.col("part") == "confirm") & _LABEL.is_not_null()
