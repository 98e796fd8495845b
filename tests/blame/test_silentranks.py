"""Ranks that waited and ranks that were silent."""

from loganalyst.blame.silentranks import silence
from tests.blame.blamelines import pattern, rows


def complaint(rank: int) -> dict[str, object]:
    return {"part": "peer", "rank": rank}


def test_the_rank_without_a_complaint_is_silent() -> None:
    """NCCL states four ranks; three of them complain."""
    count = {"pattern": pattern("rank_count"), "captures": '{"ranks": "4"}', "rank": 0}

    found = silence(rows(count, complaint(0), complaint(1), complaint(3)))

    assert found is not None
    assert (found.waiting, found.silent, found.first["line"]) == ((0, 1, 3), (2,), 2)


def test_a_complaint_may_name_the_missing_ranks() -> None:
    """Its own words go before the count."""
    named = complaint(0) | {"pattern": pattern("missing_ranks"), "captures": '{"ranks": "5, 2"}'}

    found = silence(rows(named))

    assert found is not None
    assert found.silent == (2, 5)


def test_the_rank_that_entered_fewer_operations_is_behind() -> None:
    """It complains as well, so silence would not name it. Two ranks behind, or different counts, show nothing, unless
    all others have done what it entered last.
    """

    def count(rank: int, enqueued: int, done: int = 37869) -> dict[str, object]:
        captures = f'{{"group": "0", "rank": "{rank}", "enqueued": "{enqueued}", "done": "{done}"}}'
        return {"part": "cascade", "rank": rank, "pattern": pattern("work_counts"), "captures": captures}

    complaints = [complaint(rank) for rank in range(4)]
    one = silence(rows(*complaints, *(count(rank, 37876 if rank == 2 else 37877) for rank in range(4))))
    two = silence(rows(*complaints, *(count(rank, 37876 if rank > 1 else 37877) for rank in range(4))))
    mixed = silence(rows(*complaints, *(count(rank, 37870 + rank) for rank in range(4))))

    ahead = silence(rows(*complaints, *(count(rank, 37870 + 2 * rank, 37869 + bool(rank)) for rank in range(4))))

    assert one is not None
    assert (one.waiting, one.silent, one.entered) == ((0, 1, 3), (2,), (37876, 37877))
    assert two is not None
    assert two.silent == ()
    assert mixed is not None
    assert mixed.silent == ()
    assert ahead is not None
    assert (ahead.silent, ahead.entered) == ((0,), (37870, 37872))


def test_few_complaints_show_no_silence() -> None:
    """Most ranks did not complain, so no conclusion follows; without a complaint there is nothing to judge."""
    found = silence(rows(complaint(0), {"part": "work", "rank": 7}))

    assert found is not None
    assert (found.waiting, found.silent) == ((0,), ())
    assert silence(rows({"part": "work", "rank": 7})) is None


def test_a_rank_that_the_log_never_names_may_only_be_missing() -> None:
    """A single gap counts among three waiting ranks, not among two."""
    among_three = silence(rows(complaint(0), complaint(1), complaint(3)))
    among_two = silence(rows(complaint(0), complaint(2)))

    assert among_three is not None
    assert among_three.silent == (2,)
    assert among_two is not None
    assert among_two.silent == ()
