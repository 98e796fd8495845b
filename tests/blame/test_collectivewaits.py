"""Ranks that wait in collective operations, and ranks that keep them waiting."""

from loganalyst.blame.collectivewaits import Stuck, groups, mismatches, operations, stuck, to_blame
from loganalyst.model import table


def recorded(*calls: tuple[int, int, str, str], members: tuple[int, ...] = (0, 1, 2)) -> tuple[object, object]:
    """Calls (rank, sequence, operation, state) in one group, as operations and groups."""
    rows = table(
        "collectives",
        {
            "rank": [rank for rank, *_ in calls], "group": "g", "p2p": [False] * len(calls),
            "sequence": [sequence for _, sequence, *_ in calls], "record": [sequence for _, sequence, *_ in calls],
            "operation": [name for *_, name, _ in calls], "state": [state for *_, state in calls],
            "input_elements": [8] * len(calls), "output_elements": [8] * len(calls), "dtype": "float",
        },
    )  # fmt: skip
    ranks = sorted({rank for rank, *_ in calls})
    last = [max(sequence for r, sequence, *_ in calls if r == rank) for rank in ranks]
    named = {"rank": ranks, "group": "g", "members": [list(members)] * len(ranks), "enqueued": last}
    known = groups(table("process_groups", named))
    return operations(rows, known), known


def test_a_rank_that_did_not_enter_is_missing_and_to_blame() -> None:
    """Ranks 0 and 2 are inside operation 2, rank 1 only completed operation 1."""
    done = [(rank, 1, "all_reduce", "completed") for rank in (0, 1, 2)]
    ops, known = recorded(*done, (0, 2, "all_reduce", "started"), (2, 2, "all_reduce", "started"))

    (found,) = stuck(ops, known, frozenset({0, 1, 2}))

    assert (found.inside, found.missing, found.absent, found.complete) == ({0, 2}, {1}, set(), True)
    assert to_blame([found]) == ({1}, set())


def test_a_member_without_a_dump_is_absent() -> None:
    """Whether rank 2 entered is not known."""
    ops, known = recorded((0, 1, "all_reduce", "started"), (1, 1, "all_reduce", "started"))

    (found,) = stuck(ops, known, frozenset({0, 1}))

    assert (found.inside, found.missing, found.absent) == ({0, 1}, set(), {2})


def waits(inside: set[int], missing: set[int]) -> Stuck:
    return Stuck({}, frozenset(inside), frozenset(missing), frozenset())


def test_ranks_that_wait_for_each_other_form_a_circle() -> None:
    """A rank that itself waits for a rank outside of all operations is excused."""
    assert to_blame([waits({0}, {1}), waits({1}, {0})]) == ({0, 1}, {0, 1})
    assert to_blame([waits({0}, {1}), waits({1}, {2})]) == ({2}, set())


def test_ranks_in_different_operations_are_a_mismatch() -> None:
    """The minority is named."""
    ops, _ = recorded((0, 0, "all_reduce", "started"), (1, 0, "broadcast", "started"), (2, 0, "all_reduce", "started"))

    (found,) = mismatches(ops)

    assert (found.ranks, found.what) == ({1}, "operation")
    assert (found.found["operation"], found.expected["operation"]) == ("broadcast", "all_reduce")
