"""Who waited and who was silent: where ranks give up waiting, the one that hangs is the one that says nothing."""

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from loganalyst.blame.linetraits import says
from loganalyst.thresholds import blame_limit


@dataclass(frozen=True)
class Silence:
    """Ranks that complained of their peers and ranks that never did (empty: none, or not known), both in order;
    `first` is the row of the first complaint.
    """

    waiting: tuple[int, ...]
    silent: tuple[int, ...]
    first: dict[str, Any]


def silence(lines: pl.DataFrame) -> Silence | None:
    """Of the lines of one session, as `outlived` gives them; None where no rank complains of its peers.

    Ranks of the job are as many as NCCL says there are, or all that any line names. Of a log that is not known to hold
    all ranks, one that no line names may merely be missing: only a single gap among many ranks is taken for silence.
    """
    complaints = lines.filter(pl.col("alive"), part="peer").sort("row")
    waiting = complaints["rank"].drop_nulls().unique().sort().to_list()
    if not waiting:
        return None
    first = complaints.row(0, named=True)
    named = complaints.filter(says("missing_ranks"))["captures"].str.json_path_match("$.ranks").drop_nulls()
    if len(named):
        return Silence(tuple(waiting), tuple(sorted({int(n) for n in re.findall(r"\d{1,9}", named[0])})), first)
    seen = {int(rank) for rank in lines["rank"].drop_nulls()}
    stated = _stated(lines)
    world = max(stated, *(rank + 1 for rank in seen))
    if world > max(2 * len(waiting) - 1, 2):  # most ranks did not complain: nothing follows
        return Silence(tuple(waiting), (), first)
    silent = sorted({*range(world)} - {*waiting})
    sure = stated == world or seen.issuperset(silent) or (len(silent) == 1 and len(waiting) >= blame_limit("gap_among"))
    return Silence(tuple(waiting), tuple(silent) if sure else (), first)


def _stated(lines: pl.DataFrame) -> int:
    said = lines.filter(says("rank_count"))["captures"].str.json_path_match("$.ranks").cast(pl.Int64, strict=False)
    return max(said.drop_nulls(), default=0)
