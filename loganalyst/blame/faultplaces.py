"""The rank and node of a fault if its own line does not name them: from the launcher's table, then other lines."""

from collections.abc import Sequence

import polars as pl

from loganalyst.blame.headednodes import below_headings
from loganalyst.blame.linetraits import has_trait
from loganalyst.blame.localranks import without_local_ranks
from loganalyst.blame.podplaces import on_nodes
from loganalyst.blame.silentranks import silence

_PART, _RANK, _NODE = pl.col("part"), pl.col("rank"), pl.col("node")
_OF_A_TASK = has_trait("of_task")
_OF_A_SCHEDULER = (_PART == "stop") | has_trait("of_scheduler")
_FIRST_RANK, _FIRST_NODE = pl.col("first_rank"), pl.col("first_node")


def placed(roots: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The root-cause lines `roots`, at most one per session, with the rank and node that failed first.

    `lines` are all lines, as `outlived` gives them. If some ranks gave up waiting and one other rank never printed,
    that one failed first. If several never printed, `first_rank` stays NULL.
    """
    roots, lines = (without_local_ranks(rows, lines) for rows in (roots, lines))
    found = below_headings(on_nodes(roots.with_columns(first_rank=_RANK, first_node=_NODE), lines), lines)
    found = _by_complaints(found, lines)
    found = _by_echo(_by_bus(found, lines), lines)
    if (table := first_failures(lines)).height:
        table = table.select("session", "only_node", table_rank="rank", table_node="node")
        found = found.join(table, on="session", how="left", maintain_order="left")
        nowhere = _FIRST_RANK.is_null() & _FIRST_NODE.is_null()
        found = found.with_columns(
            first_rank=pl.when(nowhere).then("table_rank").otherwise("first_rank"),
            first_node=pl.when(nowhere).then("table_node").otherwise("first_node"),
        )
    found = _by_others(found, lines)
    if table.height:
        of_table = pl.when((pl.col("table_rank") == _FIRST_RANK) | pl.col("only_node")).then("table_node")
        found = found.with_columns(first_node=pl.coalesce("first_node", of_table))
        found = found.drop("only_node", "table_rank", "table_node")
    return _on_the_only_node(_by_silence(_on_the_node(found, lines), lines), lines)


def _by_complaints(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """For complaints about peers, name the rank that complained first."""
    at = found.filter(_PART == "cascade").select("session", "file", at="line")
    if not at.height:
        return found
    complaints = lines.filter(_PART.is_in(["peer", "cascade"]), _RANK.is_not_null()).join(at, on=["session", "file"])
    named = pl.col("line_rank").is_not_null()
    return _with_earliest(
        found,
        complaints.filter(pl.col("line") <= pl.col("at")),
        rank=pl.when(named).then("line_rank").otherwise("first_rank"),
        node=pl.when(named).then("line_node").otherwise("first_node"),
    )


def _by_bus(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """For a device that a line names by its PCI address, the rank that NCCL placed on that device.

    NCCL prints the address as one number: `4f000` is 0000:4f:00.0.
    """
    devices = found.filter(has_trait("device_word"), _FIRST_RANK.is_null())
    places = lines.filter(has_trait("rank_count"), _RANK.is_not_null())
    if not devices.height or not places.height:
        return found
    asked = devices.select("session", "first_node", device=_captured("pci").map_elements(_bus, pl.Int64))
    places = places.with_columns(device=_captured("bus").str.to_integer(base=16, strict=False))
    same = places.join(asked.drop_nulls("device"), on=["session", "device"])
    same = same.filter(_FIRST_NODE.eq_missing(_NODE) | _FIRST_NODE.is_null())
    one = same.filter(_RANK.n_unique().over("session") == 1)
    return _with_earliest(
        found,
        one,
        rank=pl.coalesce("first_rank", "line_rank"),
        node=pl.when(_FIRST_RANK.is_null()).then(pl.coalesce("first_node", "line_node")).otherwise("first_node"),
    )


def _bus(address: str) -> int | None:
    """A PCI address such as `0000:4f:00.0` or `0000:4f:00` as the number that NCCL prints."""
    *domain, bus, device = address.split(":")
    device, _, function = device.partition(".")
    try:
        return int(f"{''.join(domain)}{bus}{device}{function or 0}", 16)
    except ValueError:
        return None


def _by_echo(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """For a broken device, the only rank on which CUDA reported an error."""
    asked = found.filter(has_trait("own_device"), _FIRST_RANK.is_null()).select("session", at="first_node")
    if not asked.height:
        return found
    errors = lines.filter(pl.col("label") == "cuda_error", _RANK.is_not_null()).join(asked, on="session")
    errors = errors.filter((pl.col("at") == _NODE).fill_null(value=True), _RANK.n_unique().over("session") == 1)
    node = pl.when(_FIRST_RANK.is_null()).then(pl.coalesce("first_node", "line_node")).otherwise("first_node")
    return _with_earliest(found, errors, rank=pl.coalesce("first_rank", "line_rank"), node=node)


def _captured(name: str) -> pl.Expr:
    return pl.col("captures").str.json_path_match(f"$.{name}")


def _by_others(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """If no rank is known, take it from a line with the same label, a task's exit, or any failed exit."""
    asked = found.filter(_FIRST_RANK.is_null()).select("session", asked="label", at="first_node")
    ranked = lines.filter(_RANK.is_not_null())
    if not asked.height or not ranked.height:
        return found
    ranked = ranked.join(asked, on="session")
    same = ranked.filter(pl.col("label") == pl.col("asked"), (pl.col("at") == _NODE).fill_null(value=True))
    here = pl.when(pl.col("at").is_null()).then(_PART != "cascade").otherwise(pl.col("at") == _NODE)
    node = pl.when(_FIRST_RANK.is_null()).then(pl.coalesce("first_node", "line_node")).otherwise("first_node")
    for others in (same, ranked.filter(_OF_A_TASK, here), ranked.filter(_PART == "confirm")):
        found = _with_earliest(found, others, rank=pl.coalesce("first_rank", "line_rank"), node=node)
    return found


def _on_the_node(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """If only the rank is known, take the node from its first line that names one."""
    ranks = found.filter(_FIRST_NODE.is_null()).select("session", rank="first_rank").drop_nulls()
    if not ranks.height:
        return found
    named = lines.filter(_NODE.is_not_null()).join(ranks, on=["session", "rank"])
    return _with_earliest(found, named, rank=_FIRST_RANK, node=pl.coalesce("first_node", "line_node"))


def _on_the_only_node(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Fill in the only node that any line names.

    A stop by the scheduler takes any named node. Another fault takes the node of a failed exit or of a dead actor, or
    the one on which the job script says that it runs.
    """
    nowhere = found.filter(_FIRST_RANK.is_null(), _FIRST_NODE.is_null())
    if not nowhere.height:
        return found
    asked = nowhere.select("session", of_scheduler=_OF_A_SCHEDULER)
    named = lines.filter(_NODE.is_not_null()).join(asked, on="session")
    alone = has_trait("host_named") & (_NODE.n_unique().over("session") == 1)
    named = named.filter(pl.col("of_scheduler") | (_PART == "confirm") | has_trait("actor_address") | alone)
    return _with_earliest(
        found,
        named.filter(_NODE.n_unique().over("session") == 1),
        rank=_FIRST_RANK,
        node=pl.coalesce("first_node", "line_node"),
    )


def _by_silence(found: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """If ranks complain about peers, name the silent ranks: the rank if it is the only one, and their common node."""
    peers = found.filter(_PART == "peer")
    if not peers.height:
        return found
    silent_places = [
        (session, *_common(silent.silent, own))
        for (session,), own in lines.join(peers, on="session", how="semi").group_by("session")
        if (silent := silence(own)) and silent.silent
    ]
    names = ("session", "line_rank", "line_node")
    schema = dict(zip(names, found.select("session", "first_rank", "first_node").dtypes, strict=True))
    ranks = pl.DataFrame(silent_places, schema, orient="row").with_columns(other=True)
    found = found.join(ranks, on="session", how="left", maintain_order="left")
    return found.with_columns(
        first_rank=pl.when("other").then("line_rank").otherwise("first_rank"),
        first_node=pl.when("other").then("line_node").otherwise("first_node"),
    ).drop("line_rank", "line_node", "other")


def _common(ranks: Sequence[int], lines: pl.DataFrame) -> tuple[int | None, str | None]:
    nodes = lines.filter(_RANK.is_in(ranks), _NODE.is_not_null()).unique("rank")["node"]
    same = len(nodes) == len(ranks) and nodes.n_unique() == 1
    return ranks[0] if len(ranks) == 1 else None, nodes[0] if same else None


def first_failures(lines: pl.DataFrame) -> pl.DataFrame:
    """Session, rank and node (host) of the first failure in torchrun's tables, from the earliest table of a session.

    `only_node`: the tables name no other node.
    """
    heads = lines.filter(has_trait("failure_table")).select("session", "file", "line", head="line").sort("line")
    if not heads.height:
        nothing = {"rank": pl.Int64, "node": pl.String, "only_node": pl.Boolean}
        return heads.select("session", **{name: pl.lit(None, dtype) for name, dtype in nothing.items()})
    entries = lines.filter(has_trait("failure_table_entry")).sort("line")
    entries = entries.join_asof(heads, on="line", by=["session", "file"], check_sortedness=False).drop_nulls("head")
    failures = entries.group_by("session", "file", "head", maintain_order=True).agg(
        _RANK.drop_nulls().first(), _NODE.drop_nulls().first(), pl.col("time", "line").first()
    )
    failures = failures.with_columns(only_node=_NODE.n_unique().over("session") == 1)
    return _earliest(failures.filter(_RANK.is_not_null()), "only_node")


def _with_earliest(found: pl.DataFrame, lines: pl.DataFrame, rank: pl.Expr, node: pl.Expr) -> pl.DataFrame:
    """`found` with `rank` and `node`, computed from `line_rank` and `line_node` of each session's earliest line."""
    if not lines.height:
        return found
    earliest = _earliest(lines).select("session", line_rank="rank", line_node="node")
    joined = found.join(earliest, on="session", how="left", maintain_order="left")
    return joined.with_columns(first_rank=rank, first_node=node).drop("line_rank", "line_node")


def _earliest(lines: pl.DataFrame, *also: str) -> pl.DataFrame:
    """Session, rank, node and the columns `also` of each session's earliest line, by time if all lines have a time."""
    timed = pl.col("time").is_not_null().all().over("session")
    ordered = lines.sort(pl.when(timed).then("time"), "line")
    return ordered.unique("session", keep="first", maintain_order=True).select("session", "rank", "node", *also)
