"""Which ranks waited and which were silent: when ranks give up waiting, the rank that hangs prints nothing."""

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from loganalyst.blame.linetraits import has_trait
from loganalyst.thresholds import blame_limit


@dataclass(frozen=True)
class Silence:
    """Ranks that complained about peers, and ranks that never did (empty: none, or not known), both in order.

    `first` is the row of the first complaint.
    """

    waiting: tuple[int, ...]
    silent: tuple[int, ...]
    first: dict[str, Any]


def silence(lines: pl.DataFrame) -> Silence | None:
    """The waiting and silent ranks of one session, whose `lines` come from `outlived`; None without a complaint.

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
    seen = {int(rank) for rank in lines["rank"].drop_nulls()}
    stated = _stated_ranks(lines)
    world = max(stated, *(rank + 1 for rank in seen))
    if world > max(2 * len(waiting) - 1, 2):  # most ranks did not complain: no conclusion
        return Silence(tuple(waiting), (), first)
    silent = sorted({*range(world)} - {*waiting})
    sure = stated == world or seen.issuperset(silent) or (len(silent) == 1 and len(waiting) >= blame_limit("gap_among"))
    return Silence(tuple(waiting), tuple(silent) if sure else (), first)


def _stated_ranks(lines: pl.DataFrame) -> int:
    counts = (
        lines.filter(has_trait("rank_count"))["captures"].str.json_path_match("$.ranks").cast(pl.Int64, strict=False)
    )
    return max(counts.drop_nulls(), default=0)
