"""Which ranks waited and which were silent: when ranks give up waiting, the rank that hangs prints nothing."""

import re
from typing import Any

import msgspec
import polars as pl

from loganalyst.blame.linetraits import has_trait
from loganalyst.thresholds import blame_limit


class Silence(msgspec.Struct, frozen=True):
    """Ranks that complained about peers, and ranks that never did (empty: none, or not known), both in order.

    `first` is the row of the first complaint. `entered`: the operations that the silent rank and that each other rank
    entered, where such counts name it; it may have complained then.
    """

    waiting: tuple[int, ...]
    silent: tuple[int, ...]
    first: dict[str, Any]
    entered: tuple[int, int] | None = None


def silence(lines: pl.DataFrame) -> Silence | None:
    """The waiting and silent ranks of one session, whose `lines` come from `outlived`; None without a complaint.

    A rank that entered fewer operations than all others kept them waiting, even if it complained as well.
    The number of ranks is NCCL's, or that of all ranks that any line names. If the log may lack ranks, a rank that no
    line names may only be missing from it: then only a single gap among many ranks counts as silence.
    """
    complaints = lines.filter(pl.col("alive"), part="peer").sort("row")
    waiting = complaints["rank"].drop_nulls().unique().sort().to_list()
    if not waiting:
        return None
    first = complaints.row(0, named=True)
    named = complaints.filter(has_trait("missing_ranks"))["captures"].str.json_path_match("$.ranks").drop_nulls()
    if len(named):
        return Silence(tuple(waiting), tuple(sorted({int(n) for n in re.findall(r"\d{1,9}", named[0])})), first)
    if (counted := _behind(lines)) is not None:
        behind, least, reached = counted
        return Silence(tuple(rank for rank in waiting if rank != behind), (behind,), first, (least, reached))
    seen = {int(rank) for rank in lines["rank"].drop_nulls()}
    stated = _stated_ranks(lines)
    world = max(stated, *(rank + 1 for rank in seen))
    if world > max(2 * len(waiting) - 1, 2):  # most ranks did not complain: no conclusion
        return Silence(tuple(waiting), (), first)
    silent = sorted({*range(world)} - {*waiting})
    sure = stated == world or seen.issuperset(silent) or (len(silent) == 1 and len(waiting) >= blame_limit("gap_among"))
    return Silence(tuple(waiting), tuple(silent) if sure else (), first)


def _behind(lines: pl.DataFrame) -> tuple[int, int, int] | None:
    """The only rank that entered fewer operations of a process group than all others, with its count and theirs; else
    None. The others agree, or have all done what it entered last: how far a rank runs ahead differs.
    """
    counted = lines.filter(has_trait("work_counts"))
    if not counted.height:
        return None
    names = ("group", "rank", "enqueued", "done")
    words = (pl.col("captures").str.json_path_match(f"$.{name}").alias(name) for name in names)
    numbers = pl.col("rank", "enqueued", "done").cast(pl.Int64, strict=False)
    counts = counted.select(*words).with_columns(numbers).drop_nulls(["group", "rank", "enqueued"])
    reached = counts.group_by("group", "rank").agg(pl.col("enqueued", "done").max())
    for (_,), ranks in sorted(reached.group_by("group")):
        low = min(ranks["enqueued"])
        last = ranks.filter(pl.col("enqueued") == low)["rank"].to_list()
        others = ranks.filter(pl.col("enqueued") > low)
        agreed = others["enqueued"].n_unique() == 1 or (others["done"].fill_null(-1) >= low).all()
        if ranks.height >= blame_limit("gap_among") and len(last) == 1 and agreed:
            return int(last[0]), int(low), min(others["enqueued"])
    return None


def _stated_ranks(lines: pl.DataFrame) -> int:
    counts = (
        lines.filter(has_trait("rank_count"))["captures"].str.json_path_match("$.ranks").cast(pl.Int64, strict=False)
    )
    return max(counts.drop_nulls(), default=0)
