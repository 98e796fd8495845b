"""Generators in a process of their own: what they yield and raise comes back, their death is told."""

import pytest

from loganalyst.sources import apart


def test_items_come_one_by_one() -> None:
    assert list(apart.each("builtins", "range", 3)) == [0, 1, 2]
    assert list(apart.each("builtins", "range", 0)) == []


def test_what_is_raised_is_raised_here() -> None:
    with pytest.raises(FileNotFoundError):
        list(apart.each("os", "scandir", "/nowhere/at/all"))


def test_a_death_is_told_and_the_next_call_works() -> None:
    with pytest.raises(apart.DiedError, match="signal 6"):
        list(apart.each("os", "abort"))
    with pytest.raises(apart.DiedError, match="exit code 3"):
        list(apart.each("os", "_exit", 3))
    assert list(apart.each("builtins", "range", 2)) == [0, 1]


def test_one_process_serves_many_calls() -> None:
    list(apart.each("builtins", "range", 1))
    waiting = {child.pid for child in apart._CHILDREN}
    list(apart.each("builtins", "range", 1))

    assert {child.pid for child in apart._CHILDREN} == waiting


def test_calls_may_stand_within_one_another() -> None:
    outer = apart.each("builtins", "range", 2)
    assert [(i, list(apart.each("builtins", "range", i))) for i in outer] == [(0, []), (1, [0])]


def test_whoever_stops_early_leaves_nothing_behind() -> None:
    many = apart.each("itertools", "count")
    assert next(many) == 0
    before = len(apart._CHILDREN)
    many.close()

    assert len(apart._CHILDREN) == before
    assert list(apart.each("builtins", "range", 1)) == [0]


def test_what_is_printed_is_no_message() -> None:
    assert list(apart.each("builtins", "map", print, ["rubbish"])) == [None]
