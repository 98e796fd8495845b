"""Ranks that are only numbers of devices: NCCL writes the device of a process on its node, not its rank in the job."""

import polars as pl

from loganalyst.blame.linetraits import has_trait
from loganalyst.thresholds import blame_limit

_DEVICE = r"^(?:\S+ )?[\w.-]+:\d+:\d+ \[\d+\] "  # `gpu07:77:99 [3] NCCL WARN`
_RANK, _NODE = pl.col("rank"), pl.col("node")


def without_local_ranks(rows: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The rows without ranks that are devices of one of several nodes. NCCL's own list of ranks keeps them.

    A job has several nodes if lines of NCCL name two, or if a line names a rank that one node does not have. A node
    has no more devices than is usual if none of its numbers is above that.
    """
    device = pl.col("text").str.contains(_DEVICE) & ~has_trait("rank_count")
    if not lines.select(device.any()).item():
        return rows
    nodes = pl.when(device).then(_NODE).drop_nulls().n_unique()
    most = pl.when(~device).then(_RANK).max()
    highest, usual = pl.when(device).then(_RANK).max(), blame_limit("usual_devices_per_node")
    several = (nodes > 1) | (most >= blame_limit("devices_per_node")).fill_null(value=False)
    several |= ((most >= usual) & (highest < usual)).fill_null(value=False)
    jobs = lines.group_by("session").agg(several=several)
    rows = rows.join(jobs, on="session", how="left", maintain_order="left")
    local = device & pl.col("several").fill_null(value=False)
    return rows.with_columns(rank=pl.when(~local).then("rank")).drop("several")
