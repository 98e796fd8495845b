"""Which rank and node a fault befell, where its own line does not say: the launcher's words, then other lines."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from loganalyst.features.silence import silence

_rank, _node, _line, _pattern = pl.col("rank"), pl.col("node"), pl.col("line"), pl.col("pattern")
_complaint = pl.col("part").is_in(["peer", "cascade"])
Place = tuple[int | None, str | None]


def place(row: Mapping[str, Any], lines: pl.DataFrame) -> Place:
    """Rank and node that failed first, by the root-cause line `row` of one session and its `lines`, as `outlived` gives
    them. Where ranks gave up waiting and others never spoke, these are the ones: of several none is named.
    """
    found = silence(lines) if row["part"] == "peer" else None
    if found and found.silent:
        return _common(found.silent, lines)
    rank, node = row["rank"], row["node"]
    if row["part"] == "cascade":  # whoever complained first is named, whichever complaint says most
        complaints = lines.filter(_complaint, _rank.is_not_null(), _line <= row["line"], file=row["file"])
        rank, node = _first(complaints) or (rank, node)
    table = first_failure(lines)
    if rank is None and node is None:
        rank, node = table or (rank, node)
    tasks = lines.filter(_pattern.str.starts_with("slurm-task"), _rank.is_not_null())
    if rank is None:
        near = lines if node is None else lines.filter((_node == node).fill_null(value=True))
        same = near.filter(_rank.is_not_null(), label=row["label"] or "")
        exits = tasks.filter(_node == node) if node else tasks.filter(pl.col("part") != "cascade")
        others = lines.filter(_rank.is_not_null(), pl.col("part") == "confirm")
        rank, told = _first(same) or _first(exits) or _first(others) or (None, None)
        node = node or told
    if node is None and table and table[0] == rank:
        node = table[1]
    if node is None and rank is not None:
        node = (_first(lines.filter(_node.is_not_null(), _rank == rank)) or (None, None))[1]
    return rank, node


def first_failure(lines: pl.DataFrame) -> Place | None:
    """Rank and host of what torchrun's tables call the first failure; of several tables that of the earliest."""
    heads = lines.filter(_pattern == "first-failure-table").select("file", "line", head="line").sort("line")
    if not heads.height:
        return None
    entries = lines.filter(_pattern.str.starts_with("failure-table")).sort("line")
    entries = entries.join_asof(heads, on="line", by="file", check_sortedness=False).drop_nulls("head")
    told = entries.group_by("file", "head").agg(
        _rank.drop_nulls().first(), _node.drop_nulls().first(), pl.col("time").first(), _line.first()
    )
    return _first(told.filter(_rank.is_not_null()))


def _common(ranks: Sequence[int], lines: pl.DataFrame) -> Place:
    """The rank, if it is one, and the node of all of them, if it is known."""
    nodes = lines.filter(_rank.is_in(ranks), _node.is_not_null()).unique("rank")["node"]
    same = len(nodes) == len(ranks) and nodes.n_unique() == 1
    return ranks[0] if len(ranks) == 1 else None, nodes[0] if same else None


def _first(lines: pl.DataFrame) -> Place | None:
    """Rank and node of the earliest line, None where there is none."""
    ordered = lines.sort("line" if lines["time"].null_count() else "time", "line")
    return (ordered["rank"][0], ordered["node"][0]) if ordered.height else None
