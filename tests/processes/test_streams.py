"""A generator in a process of its own: its items and exceptions come back; its death costs the request in hand only."""

import pytest

from loganalyst.limits import spare
from loganalyst.processes import streams
from loganalyst.processes.streams import stream
from loganalyst.processes.worker import DiedError


def test_items_come_one_by_one() -> None:
    assert list(stream("builtins", "range", 3)) == [0, 1, 2]
    assert list(stream("builtins", "range", 0)) == []


def test_an_exception_is_raised_here() -> None:
    with pytest.raises(FileNotFoundError):
        list(stream("os", "scandir", "/nowhere/at/all"))


def test_after_a_death_the_next_call_works() -> None:
    with pytest.raises(DiedError, match="signal 6"):
        list(stream("os", "abort"))
    with pytest.raises(DiedError, match="exit code 3"):
        list(stream("os", "_exit", 3))
    assert list(stream("builtins", "range", 2)) == [0, 1]


def test_one_process_serves_many_calls() -> None:
    list(stream("builtins", "range", 1))
    waiting = {worker.pid for worker in streams._idle}
    list(stream("builtins", "range", 1))

    assert {worker.pid for worker in streams._idle} == waiting


def test_calls_may_be_nested() -> None:
    outer = stream("builtins", "range", 2)
    assert [(i, list(stream("builtins", "range", i))) for i in outer] == [(0, []), (1, [0])]


def test_a_stream_that_is_not_read_to_its_end_leaves_no_process() -> None:
    many = stream("itertools", "count")
    assert next(many) == 0
    before = len(streams._idle)
    many.close()

    assert len(streams._idle) == before
    assert list(stream("builtins", "range", 1)) == [0]


def test_printed_text_is_no_message() -> None:
    assert list(stream("builtins", "map", print, ["rubbish"])) == [None]


def test_a_worker_asks_for_no_more_workers() -> None:
    assert list(stream("builtins", "map", _spare, [None])) == [0]


def _spare(_: object) -> int:
    return spare()
