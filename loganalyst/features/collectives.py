"""What the flight recorders of the ranks say: which collective hangs, which ranks keep the others waiting."""

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
    Feature("collective_dump_count", "int", "ranks", "ranks whose flight recorder was read", NEEDS),
    Feature("collective_world_size", "int", "ranks", "ranks the job has: of the largest process group, or as configured", NEEDS),
    Feature("collective_no_dump_count", "int", "ranks", "ranks that left no dump (None: how many there are is not known)", NEEDS),
    Feature("collective_no_dump_ranks", "text", "", "ranks that left no dump", NEEDS),
    Feature("collective_stuck_count", "int", "operations", "operations that are not over on all ranks, the first of each group", NEEDS),
    Feature("collective_operation", "text", "", "operation that hangs", NEEDS),
    Feature("collective_group", "text", "", "process group of the operation that hangs", NEEDS),
    Feature("collective_sequence", "int", "", "number of the operation that hangs, within its group", NEEDS),
    Feature("collective_size", "text", "", "shapes of the tensors of the operation that hangs", NEEDS),
    Feature("collective_dtype", "text", "", "type of their elements", NEEDS),
    Feature("collective_frame", "text", "", "frame of the user's own code that waits in it, file:line in function", NEEDS),
    Feature("collective_timeout_s", "float", "s", "time limit of the operation that hangs", NEEDS),
    Feature("collective_waited_s", "float", "s", "time from its begin until the dump was written, at most", NEEDS),
    Feature("collective_earlier_count", "int", "ranks", "ranks dumped before the others had come so far: whether they came later is not known", NEEDS),
    Feature("collective_earlier_ranks", "text", "", "ranks dumped before the others had come so far", NEEDS),
    Feature("collective_waiting_count", "int", "ranks", "ranks that are inside it", NEEDS),
    Feature("collective_waiting_ranks", "text", "", "ranks that are inside it", NEEDS),
    Feature("collective_missing_count", "int", "ranks", "ranks that keep others waiting: they never joined (0: all members are inside; None: cannot be told)", NEEDS),
    Feature("collective_missing_ranks", "text", "", "ranks that keep others waiting", NEEDS),
    Feature("collective_missing_last", "text", "", "what the first of them did last", NEEDS),
    Feature("collective_circle_count", "int", "ranks", "of them, ranks that are inside another operation and wait for each other in a circle", NEEDS),
    Feature("collective_circle_ranks", "text", "", "ranks that wait for each other in a circle", NEEDS),
    Feature("collective_mismatch_count", "int", "ranks", "ranks whose operation is not that of the others with the same number in the same group", NEEDS),
    Feature("collective_mismatch_ranks", "text", "", "ranks whose operation is not that of the others (all, where there is no majority)", NEEDS),
    Feature("collective_mismatch_sequence", "int", "", "number of the first operation in which they differ", NEEDS),
    Feature("collective_mismatch_group", "text", "", "process group in which they differ", NEEDS),
    Feature("collective_mismatch_what", "text", "", "what differs: operation, size, type of elements", NEEDS),
    Feature("collective_mismatch_found", "text", "", "what the first of these ranks does", NEEDS),
    Feature("collective_mismatch_expected", "text", "", "what the others do", NEEDS),
)  # fmt: skip
SHOWN = 20  # ranges of ranks in a text


def compute(context: Context) -> Computed:
    """All of FEATURES that the dumps tell; none where there is no dump that names its rank."""
    told = context.run.process_groups
    dumped = frozenset(told["rank"].drop_nulls())
    if not dumped:
        return {}
    known = collectivewaits.groups(told)
    ops = collectivewaits.operations(context.run.collectives, known)
    found, differ = collectivewaits.stuck(ops, known, dumped), collectivewaits.mismatches(ops)
    blamed, circle = collectivewaits.to_blame(found)
    return {
        **_dumps(context, known, dumped),
        "collective_stuck_count": len(found),
        **_earlier(found),
        **_hanging(found, blamed),
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


def _hanging(found: list[Stuck], blamed: frozenset[int]) -> Computed:
    """The operation that hangs: the first that waits for a rank to blame, else the first of all."""
    if not found:
        return {}
    hanging = next((s for s in found if s.missing & blamed), found[0])
    row = hanging.first
    values: dict[str, FeatureValue] = {
        "collective_operation": row["operation"],
        "collective_group": _group(row),
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
    if not blamed:  # that nobody is missing is known only where every member's dump is
        sure = all(s.complete and not s.absent for s in found)
        return {"collective_missing_count": 0, "collective_circle_count": 0} if sure else {}
    first = min(blamed)
    last = ops.filter(pl.col("rank") == first).sort("record").tail(1).to_dicts()
    files = [row["file"] for row in last]
    seen = Witness(rank=first, file=files[0] if files else None)
    return {
        "collective_missing_count": (len(blamed), seen),
        "collective_missing_ranks": (ranges(blamed), seen),
        "collective_missing_last": (_told(last[0]) if last else None, seen),
        "collective_circle_count": (len(circle), seen),
        "collective_circle_ranks": ranges(circle) or None,
    }


def _mismatch(differ: list[Mismatch]) -> Computed:
    if not differ:
        return {"collective_mismatch_count": 0}
    first = differ[0]
    every = frozenset[int]().union(*(m.ranks for m in differ))
    seen = _witness(first.found)
    return {
        "collective_mismatch_count": (len(every), seen),
        "collective_mismatch_ranks": (ranges(every), seen),
        "collective_mismatch_sequence": (first.found["sequence"], seen),
        "collective_mismatch_group": (_group(first.found), seen),
        "collective_mismatch_what": (first.what, seen),
        "collective_mismatch_found": (_told(first.found), seen),
        "collective_mismatch_expected": _told(first.expected),
    }


def _witness(row: Row) -> Witness:
    return Witness(rank=row["rank"], file=row["file"])


def _group(row: Row) -> Any:
    return row["description"] or row["group"]


def _told(row: Row) -> str:
    """`all_reduce of 16x4 Float (number 7 of default_pg) at train.py:12 in step`."""
    of = " ".join(str(v) for v in (row["input_sizes"], row["dtype"]) if v)
    at = f" at {row['frame']}" if row["frame"] else ""
    return f"{row['operation']}{f' of {of}' if of else ''} (number {row['sequence']} of {_group(row)}){at}"


def ranges(ranks: Collection[int]) -> str:
    """`0-3, 7`; the first SHOWN ranges of many."""
    ordered = sorted(ranks)
    breaks = [(a, b) for a, b in pairwise(ordered) if b != a + 1]
    starts, ends = [*ordered[:1], *(b for _, b in breaks)], [*(a for a, _ in breaks), *ordered[-1:]]
    shown = [f"{a}-{b}" if a != b else str(a) for a, b in zip(starts, ends, strict=True)]
    return ", ".join(shown[:SHOWN]) + (", …" if len(shown) > SHOWN else "")
