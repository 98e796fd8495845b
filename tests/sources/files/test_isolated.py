"""Generators in a process of their own: what they yield and raise comes back, their death is told."""

import pytest

from loganalyst.sources.files import isolated


def test_items_come_one_by_one() -> None:
    assert list(isolated.each("builtins", "range", 3)) == [0, 1, 2]
    assert list(isolated.each("builtins", "range", 0)) == []


def test_what_is_raised_is_raised_here() -> None:
    with pytest.raises(FileNotFoundError):
        list(isolated.each("os", "scandir", "/nowhere/at/all"))


def test_a_death_is_told_and_the_next_call_works() -> None:
    with pytest.raises(isolated.DiedError, match="signal 6"):
        list(isolated.each("os", "abort"))
    with pytest.raises(isolated.DiedError, match="exit code 3"):
        list(isolated.each("os", "_exit", 3))
    assert list(isolated.each("builtins", "range", 2)) == [0, 1]


def test_one_process_serves_many_calls() -> None:
    list(isolated.each("builtins", "range", 1))
    waiting = {child.pid for child in isolated._CHILDREN}
    list(isolated.each("builtins", "range", 1))

    assert {child.pid for child in isolated._CHILDREN} == waiting


def test_calls_may_stand_within_one_another() -> None:
    outer = isolated.each("builtins", "range", 2)
    assert [(i, list(isolated.each("builtins", "range", i))) for i in outer] == [(0, []), (1, [0])]


def test_whoever_stops_early_leaves_nothing_behind() -> None:
    many = isolated.each("itertools", "count")
    assert next(many) == 0
    before = len(isolated._CHILDREN)
    many.close()

    assert len(isolated._CHILDREN) == before
    assert list(isolated.each("builtins", "range", 1)) == [0]


def test_what_is_printed_is_no_message() -> None:
    assert list(isolated.each("builtins", "map", print, ["rubbish"])) == [None]
