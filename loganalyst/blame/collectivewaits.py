"""Which ranks wait for which others in collective operations, from the ranks' flight recorders."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import polars as pl

from loganalyst.model import Time

# Operations whose ranks may pass different sizes and types: all_to_all, scatter, all_gather_v, a + b
_UNEVEN = r"^(?:all_?to_?all|scatter$|gather$|coalesced)|_oop$|_v$|_v_| \+ "
# Operations that complete only after all ranks entered them: all_reduce, _allgather_base
_MEETING = r"^_?(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|barrier)"
_PEER = re.compile(r"(send|recv) (\d+)(?:->|<-)(\d+)")  # `send 0->1`, `recv 1<-0`
Row = Mapping[str, Any]


class Stuck(msgspec.Struct, frozen=True):
    """An operation that is not over: the ranks `inside` it and the members `missing` from it.

    Whether the `absent` members entered it is not known: they left no dump, or an older one (`earlier`). `first` is
    the record of the first rank inside, `dumped` the latest time at which its dump was written. `complete` says that
    all members of the group are known.
    """

    first: Row
    inside: frozenset[int]
    missing: frozenset[int]
    absent: frozenset[int]
    complete: bool = True
    earlier: frozenset[int] = frozenset()
    dumped: datetime | None = None


class Mismatch(msgspec.Struct, frozen=True):
    """The first operation of a group in which ranks differ.

    `ranks` are the minority (all ranks if there is no majority). `found` is the record of one of them, `expected` that
    of the majority, `what` the property that differs.
    """

    ranks: frozenset[int]
    found: Row
    expected: Row
    what: str


def groups(process_groups: pl.DataFrame) -> pl.DataFrame:
    """The rows of `process_groups`, one per rank and group, with a `key`.

    Several groups with different ranks may share a name. A rank that does not list the members gets the list of the
    others, if they agree.
    """
    text = pl.col("members").cast(pl.List(pl.String)).list.join(",")
    named = process_groups.drop_nulls(["rank", "group"]).with_columns(text=text)
    one = pl.col("text").drop_nulls().n_unique().over("group") == 1
    filled = named.with_columns(pl.when(one).then(pl.col("text").max().over("group")).otherwise("text").alias("text"))
    keyed = filled.with_columns(
        key=pl.col("group") + "|" + pl.col("text").fill_null(""),
        members=pl.col("text").str.split(",").cast(pl.List(pl.Int64)),
    )
    return keyed.sort("enqueued", descending=True, nulls_last=True).unique(["key", "rank"], maintain_order=True)


def operations(collectives: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """One row per rank and operation of a group. Operations that were coalesced into one launch are one.

    `whole`: no part of the operation was overwritten, as can happen to the oldest one in a full recorder.
    """
    over = pl.col("state") == "completed"
    once = collectives.drop_nulls(["rank", "group", "sequence"]).with_columns(over=over.fill_null(value=False))
    once = (
        once.sort("over", descending=True)
        .unique(["rank", "group", "p2p", "record"], keep="first")
        .sort("rank", "record")
    )
    named = pl.when("p2p").then("operation").otherwise(pl.lit(""))  # a send and a receive may share their number
    return (
        once.join(known.select("rank", "group", "key", "description"), on=["rank", "group"])
        .group_by("key", "rank", "p2p", "sequence", named.alias("pair"), maintain_order=True)
        .agg(
            pl.col("operation").unique(maintain_order=True).str.join(" + "),
            pl.col("input_elements", "output_elements").sum(),
            pl.col("over").all(),
            pl.col("group", "description", "input_sizes", "dtype", "created", "timeout_s", "frame", "file").first(),
            pl.col("record").min(),
        )
        .with_columns(whole=(pl.col("record") > pl.col("record").min().over("rank")) | (pl.col("record") == 0))
    )  # fmt: skip


def stuck(ops: pl.DataFrame, known: pl.DataFrame, dumped: frozenset[int]) -> list[Stuck]:
    """The first operation of each group that is not over on all ranks, the earliest first.

    `dumped` are the ranks whose dump was read.
    """
    found = [*_collectives(ops.filter(~pl.col("p2p")), known, dumped), *_pairs(ops.filter("p2p"), known, dumped)]
    return sorted(found, key=lambda s: (s.first["created"] is None, s.first["created"]))


def _collectives(ops: pl.DataFrame, known: pl.DataFrame, dumped: frozenset[int]) -> Iterator[Stuck]:
    known = _dated(ops, known)
    at = _first_open(ops, known)
    entered = known.join(at, on="key").with_columns(entered=pl.col("enqueued") >= pl.col("at"))
    by_key = entered.partition_by("key", as_dict=True)
    firsts = ops.sort("over", "created", nulls_last=True).unique(["key", "sequence"], keep="first", maintain_order=True)
    firsts = firsts.join(at, left_on=["key", "sequence"], right_on=["key", "at"], how="semi")
    for first in firsts.iter_rows(named=True):
        rows = by_key[(first["key"],)]
        before = (pl.col("dumped") < pl.lit(first["created"], Time)).fill_null(value=False)
        before = ~pl.col("entered") & (before | (pl.col("enqueued") < pl.col("floor")))
        members, earlier = rows["members"][0], frozenset(rows.filter(before)["rank"])
        yield Stuck(
            first=first,
            inside=frozenset(rows.filter("entered")["rank"]),
            missing=frozenset(rows.filter(~pl.col("entered"))["rank"]) - earlier,
            absent=frozenset(members if members is not None else ()) - dumped | earlier,
            complete=members is not None,
            earlier=earlier,
            dumped=rows.filter(rank=first["rank"])["dumped"].to_list()[0],
        )


def _first_open(ops: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The number `at` of the first unfinished operation of each group, by key."""
    reached, floor = pl.col("enqueued"), pl.col("floor")
    passed = ops.filter(~pl.col("over")).join(known.select("key", "floor").unique(), on="key")
    waiting = passed.filter(pl.col("sequence") >= floor).group_by("key").agg(open=pl.col("sequence").min())
    behind = pl.when(reached.max() > reached.min()).then(reached.min() + 1)
    left = known.filter(reached >= floor).group_by("key").agg(behind=behind)
    both = left.join(waiting, on="key", how="full", coalesce=True)
    return both.select("key", at=pl.coalesce("open", "behind")).drop_nulls()


def _dated(ops: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The groups with `floor`: the number of the last operation that needs all ranks and that some rank completed.

    A rank that had not reached it, or was inside an earlier one, was dumped before the others.
    """
    met = ops.filter(pl.col("over"), pl.col("operation").str.contains(_MEETING))
    floors = met.group_by("key").agg(floor=pl.col("sequence").max())
    return known.join(floors, on="key", how="left", maintain_order="left").with_columns(pl.col("floor").fill_null(0))


def _pairs(ops: pl.DataFrame, known: pl.DataFrame, dumped: frozenset[int]) -> Iterator[Stuck]:
    """Sends and receives that are not over. If both ends are open, neither waits for the other rank."""
    members: dict[tuple[str, int], Sequence[int] | None] = {
        (key, rank): list(ranks) if ranks is not None else None
        for key, rank, ranks in known.select("key", "rank", "members").iter_rows()
    }
    written = dict(known.group_by("rank").agg(pl.col("dumped").max()).iter_rows())
    ends: dict[tuple[str, str, str, str], tuple[dict[str, Any], int]] = {}
    for row in ops.filter(~pl.col("over")).sort("record").iter_rows(named=True):
        kind, mine, other = hit.groups() if (hit := _PEER.fullmatch(row["pair"])) else ("", "", "")
        ranks = members[row["key"], row["rank"]]
        if kind and ranks and int(other) < len(ranks):
            ends.setdefault((row["key"], kind, mine, other), (row, ranks[int(other)]))
    for (key, kind, mine, other), (row, peer) in ends.items():
        met = (key, "recv" if kind == "send" else "send", other, mine) in ends
        inside, end, begun = frozenset({row["rank"], *({peer} if met else ())}), written.get(peer), row["created"]
        earlier = frozenset({peer} if not met and end and begun and end < begun else ())
        missing = frozenset(() if met else {peer} & dumped) - earlier
        absent = frozenset({peer}) - dumped | earlier
        yield Stuck(row, inside, missing, absent, earlier=earlier, dumped=written.get(row["rank"]))


def to_blame(found: Collection[Stuck]) -> tuple[frozenset[int], frozenset[int]]:
    """The ranks that keep the others waiting, and those of them that form a circle.

    They are the ranks in no operation, and ranks in an operation that waits for none of those: such ranks wait for
    each other in a circle.
    """
    missing = frozenset[int]().union(*(s.missing for s in found))
    inside = frozenset[int]().union(*(s.inside for s in found))
    excuse = missing - inside | frozenset[int]().union(*(s.absent for s in found))
    excused, growing = frozenset[int](), True
    while growing:
        reasons = excuse | excused
        now = frozenset(r for s in found if (s.missing | s.absent) & reasons for r in s.inside & missing)
        growing, excused = now != excused, now
    circle = (missing & inside) - excused
    return (missing - inside) | circle, circle


def mismatches(ops: pl.DataFrame) -> list[Mismatch]:
    """The first operation of each group in which the ranks differ, the earliest first."""
    even = ~pl.col("operation").str.contains(_UNEVEN)
    sizes = (pl.col(name).cast(pl.String).fill_null("") for name in ("input_elements", "output_elements", "dtype"))
    signed = ops.filter(~pl.col("p2p"), "whole").with_columns(
        sign=pl.concat_str("operation", *(pl.when(even).then(s).otherwise(pl.lit("")) for s in sizes), separator="|")
    )
    differ = signed.filter(pl.col("sign").n_unique().over("key", "sequence") > 1)
    first = differ.filter(pl.col("sequence") == pl.col("sequence").min().over("key"))
    found = [_mismatch(rows) for rows in first.partition_by("key")]
    return sorted(found, key=lambda m: (m.found["created"] is None, m.found["created"]))


def _mismatch(rows: pl.DataFrame) -> Mismatch:
    counts = (
        rows.group_by("sign", maintain_order=True)
        .agg(n=pl.len(), rank=pl.col("rank").min())
        .sort("n", descending=True, maintain_order=True)
    )
    usual = counts["sign"][0]
    others = rows.filter(pl.col("sign") != usual).sort("rank")
    found, expected = others.row(0, named=True), rows.filter(pl.col("sign") == usual).sort("rank").row(0, named=True)
    even = counts["n"][1] == counts["n"][0]
    elements = ("input_elements", "output_elements")
    what = (
        "operation" if found["operation"] != expected["operation"]
        else "size" if any(found[e] != expected[e] for e in elements) else "type of elements"
    )  # fmt: skip
    return Mismatch(frozenset((rows if even else others)["rank"]), found, expected, what)
