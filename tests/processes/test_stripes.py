"""Work shared with workers: the order of results, and what happens to the items of a worker that dies."""

from collections.abc import Iterator, Sequence

import pytest

from loganalyst.processes.stripes import in_stripes
from loganalyst.processes.worker import DiedError


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_results_are_in_the_order_of_the_items(ways: int) -> None:
    stripes: list[list[int]] = []

    def elsewhere(some: Sequence[int]) -> Iterator[int]:
        stripes.append(list(some))
        return (item * item for item in some)

    assert in_stripes(range(7), ways, lambda item: item * item, elsewhere) == [0, 1, 4, 9, 16, 25, 36]
    assert stripes == [list(range(7))[way::ways] for way in range(1, ways)]


def test_what_a_worker_did_not_do_before_it_died_is_done_here() -> None:
    here: list[int] = []

    def dying(some: Sequence[int]) -> Iterator[int]:
        yield some[0]
        raise DiedError("signal 9")

    def one(item: int) -> int:
        here.append(item)
        return item

    assert in_stripes(range(6), 2, one, dying) == [0, 1, 2, 3, 4, 5]
    assert here == [0, 2, 4, 3, 5]


def test_other_errors_are_raised() -> None:
    def broken(_: Sequence[int]) -> Iterator[int]:
        raise ValueError("a defect of ours")
        yield 0

    with pytest.raises(ValueError, match="a defect"):
        in_stripes(range(6), 2, abs, broken)
