"""Features from the flight recorders of the ranks: which collective hangs, and which ranks keep the others waiting."""

from collections.abc import Collection
from itertools import pairwise
from typing import Any

import polars as pl

from loganalyst.blame import collectivewaits
from loganalyst.blame.collectivewaits import Mismatch, Row, Stuck
from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, FeatureValue, Witness

NEEDS = "flight-recorder dumps of all ranks (TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1)"
FEATURES = (
    Feature("collective_dump_count", "int", "ranks", "ranks with a flight-recorder dump that was read", NEEDS),
    Feature("collective_world_size", "int", "ranks", "ranks of the job, from the process groups, the dumps and the config", NEEDS),
    Feature("collective_no_dump_count", "int", "ranks", "ranks without a dump (NULL: the number of ranks is not known)", NEEDS),
    Feature("collective_no_dump_ranks", "text", "", "ranks without a dump", NEEDS),
    Feature("collective_stuck_count", "int", "operations", "operations that did not finish on all ranks, counting the first of each process group", NEEDS),
    Feature("collective_operation", "text", "", "the hanging operation", NEEDS),
    Feature("collective_group", "text", "", "process group of the hanging operation", NEEDS),
    Feature("collective_sequence", "int", "", "sequence number of the hanging operation within its group", NEEDS),
    Feature("collective_size", "text", "", "shapes of the input tensors of the hanging operation", NEEDS),
    Feature("collective_dtype", "text", "", "element type of these tensors", NEEDS),
    Feature("collective_frame", "text", "", "frame of the user's own code that waits in the hanging operation, file:line in function", NEEDS),
    Feature("collective_timeout_s", "float", "s", "time limit of the hanging operation", NEEDS),
    Feature("collective_waited_s", "float", "s", "longest possible wait: time from the start of the hanging operation until the dump was written", NEEDS),
    Feature("collective_earlier_count", "int", "ranks", "ranks whose dump was written before the others reached the hanging operation; whether they arrived later is not known", NEEDS),
    Feature("collective_earlier_ranks", "text", "", "ranks whose dump was written before the others reached the hanging operation", NEEDS),
    Feature("collective_waiting_count", "int", "ranks", "ranks inside the hanging operation", NEEDS),
    Feature("collective_waiting_ranks", "text", "", "ranks inside the hanging operation", NEEDS),
    Feature("collective_missing_count", "int", "ranks", "ranks that never joined and keep the others waiting (0 = all members are inside)", NEEDS),
    Feature("collective_missing_ranks", "text", "", "ranks that never joined and keep the others waiting", NEEDS),
    Feature("collective_missing_last", "text", "", "last operation of the first of them", NEEDS),
    Feature("collective_circle_count", "int", "ranks", "number of these ranks that are inside other operations and wait for each other in a circle", NEEDS),
    Feature("collective_circle_ranks", "text", "", "ranks that wait for each other in a circle", NEEDS),
    Feature("collective_mismatch_count", "int", "ranks", "ranks whose operation differs from that of the other ranks with the same sequence number in the same group", NEEDS),
    Feature("collective_mismatch_ranks", "text", "", "ranks whose operation differs (all ranks if there is no majority)", NEEDS),
    Feature("collective_mismatch_sequence", "int", "", "sequence number of the first operation that differs", NEEDS),
    Feature("collective_mismatch_group", "text", "", "process group of the first operation that differs", NEEDS),
    Feature("collective_mismatch_what", "text", "", "what differs: operation, size or element type", NEEDS),
    Feature("collective_mismatch_found", "text", "", "operation of the first rank that differs", NEEDS),
    Feature("collective_mismatch_expected", "text", "", "operation of the other ranks", NEEDS),
)  # fmt: skip
MAX_RANGES_SHOWN = 20  # ranges of ranks in a text


def compute(context: Context) -> Computed:
    """All of FEATURES that the dumps provide; none if no dump names its rank."""
    process_groups = context.run.process_groups
    dumped = frozenset(process_groups["rank"].drop_nulls())
    if not dumped:
        return {}
    known = collectivewaits.groups(process_groups)
    ops = collectivewaits.operations(context.run.collectives, known)
    found, differ = collectivewaits.stuck(ops, known, dumped), collectivewaits.mismatches(ops)
    blamed, circle = collectivewaits.to_blame(found)
    return {
        **_dumps(context, known, dumped),
        "collective_stuck_count": len(found),
        **_earlier(found),
        **_hanging_operation(found, blamed),
        **_blamed(found, blamed, circle, ops),
        **_mismatch(differ),
    }


def _dumps(context: Context, known: pl.DataFrame, dumped: frozenset[int]) -> Computed:
    configured = context.number("world_size")
    members = frozenset(known["members"].drop_nulls().explode().drop_nulls())
    expected = members | frozenset(range(int(configured)) if configured and 0 < configured < 1 << 20 else ())
    if not expected:
        return {"collective_dump_count": len(dumped)}
    absent = expected - dumped
    return {
        "collective_dump_count": len(dumped),
        "collective_world_size": len(expected | dumped),
        "collective_no_dump_count": len(absent),
        "collective_no_dump_ranks": ranges(absent) or None,
    }


def _hanging_operation(found: list[Stuck], blamed: frozenset[int]) -> Computed:
    """The hanging operation: the first that waits for a rank to blame, otherwise the first of all."""
    if not found:
        return {}
    hanging = next((s for s in found if s.missing & blamed), found[0])
    row = hanging.first
    values: dict[str, FeatureValue] = {
        "collective_operation": row["operation"],
        "collective_group": _group_name(row),
        "collective_sequence": row["sequence"],
        "collective_size": row["input_sizes"],
        "collective_dtype": row["dtype"],
        "collective_frame": row["frame"],
        "collective_timeout_s": row["timeout_s"],
        "collective_waited_s": (hanging.dumped - row["created"]).total_seconds()
        if hanging.dumped and row["created"]
        else None,
        "collective_waiting_count": len(hanging.inside),
        "collective_waiting_ranks": ranges(hanging.inside),
    }
    return {name: (value, _witness(row)) for name, value in values.items()}


def _earlier(found: list[Stuck]) -> Computed:
    ranks = frozenset[int]().union(*(s.earlier for s in found))
    return {"collective_earlier_count": len(ranks), "collective_earlier_ranks": ranges(ranks) or None}


def _blamed(found: list[Stuck], blamed: frozenset[int], circle: frozenset[int], ops: pl.DataFrame) -> Computed:
    if not blamed:  # no rank is known to be missing unless every member left a dump
        sure = all(s.complete and not s.absent for s in found)
        return {"collective_missing_count": 0, "collective_circle_count": 0} if sure else {}
    first = min(blamed)
    last = ops.filter(pl.col("rank") == first).sort("record").tail(1).to_dicts()
    files = [row["file"] for row in last]
    witness = Witness(rank=first, file=files[0] if files else None)
    return {
        "collective_missing_count": (len(blamed), witness),
        "collective_missing_ranks": (ranges(blamed), witness),
        "collective_missing_last": (_operation_text(last[0]) if last else None, witness),
        "collective_circle_count": (len(circle), witness),
        "collective_circle_ranks": ranges(circle) or None,
    }


def _mismatch(differ: list[Mismatch]) -> Computed:
    if not differ:
        return {"collective_mismatch_count": 0}
    first = differ[0]
    every = frozenset[int]().union(*(m.ranks for m in differ))
    witness = _witness(first.found)
    return {
        "collective_mismatch_count": (len(every), witness),
        "collective_mismatch_ranks": (ranges(every), witness),
        "collective_mismatch_sequence": (first.found["sequence"], witness),
        "collective_mismatch_group": (_group_name(first.found), witness),
        "collective_mismatch_what": (first.what, witness),
        "collective_mismatch_found": (_operation_text(first.found), witness),
        "collective_mismatch_expected": _operation_text(first.expected),
    }


def _witness(row: Row) -> Witness:
    return Witness(rank=row["rank"], file=row["file"])


def _group_name(row: Row) -> Any:
    return row["description"] or row["group"]


def _operation_text(row: Row) -> str:
    """`all_reduce of 16x4 Float (number 7 of default_pg) at train.py:12 in step`."""
    tensors = " ".join(str(v) for v in (row["input_sizes"], row["dtype"]) if v)
    at = f" at {row['frame']}" if row["frame"] else ""
    return (
        f"{row['operation']}{f' of {tensors}' if tensors else ''} (number {row['sequence']} of {_group_name(row)}){at}"
    )


def ranges(ranks: Collection[int]) -> str:
    """`0-3, 7`; at most MAX_RANGES_SHOWN ranges."""
    ordered = sorted(ranks)
    breaks = [(a, b) for a, b in pairwise(ordered) if b != a + 1]
    starts, ends = [*ordered[:1], *(b for _, b in breaks)], [*(a for a, _ in breaks), *ordered[-1:]]
    shown = [f"{a}-{b}" if a != b else str(a) for a, b in zip(starts, ends, strict=True)]
    return ", ".join(shown[:MAX_RANGES_SHOWN]) + (", …" if len(shown) > MAX_RANGES_SHOWN else "")
