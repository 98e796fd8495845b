"""Working one item ahead."""

import threading
from collections.abc import Iterator

import pytest

from loganalyst.sources.log.ahead import ahead


def test_the_items_come_in_their_order() -> None:
    assert list(ahead(iter(range(1, 100)))) == list(range(1, 100))
    assert list(ahead(iter(()))) == []


def test_the_next_item_is_begun_while_one_is_used() -> None:
    begun = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        begun.set()
        yield 2

    found = ahead(items())
    assert next(found) == 1
    begun.wait()
    assert list(found) == [2]


def test_an_error_comes_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(OSError, match="gone"):
        next(found)


def test_a_caller_that_stops_leaves_no_thread() -> None:
    before = threading.active_count()
    found = ahead(iter(range(10)))
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before
