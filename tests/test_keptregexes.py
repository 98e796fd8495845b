"""Texts are few: their functions have a thread that keeps the regexes, without which they give the same."""

import os
import threading

import polars as pl
import pytest

from loganalyst import keptregexes
from loganalyst.keptregexes import FEW_ROWS, keeps_regexes

SHORT = pl.Series(["a1"])


@keeps_regexes("first")
def first(text: pl.Series) -> list[str]:
    """The name of the thread, and that of `second` called there."""
    return [threading.current_thread().name, *(second(text) if len(text) == 1 else [])]


@keeps_regexes("second")
def second(text: pl.Series) -> list[str]:
    if text[0] == "wrong":
        raise ValueError("wrong")
    return [threading.current_thread().name]


def test_the_thread_is_always_the_same() -> None:
    """Within one of them, another one's work is done too: they never wait for each other."""
    assert first(SHORT) == first(SHORT) == ["first_0", "first_0"]
    assert second(SHORT) == ["second_0"]


def test_many_texts_are_looked_at_by_the_thread_that_asks() -> None:
    """Several threads read a long log."""
    assert first(pl.Series(["a"] * (FEW_ROWS + 1))) == [threading.current_thread().name]


def test_faults_come_back() -> None:
    with pytest.raises(ValueError, match="wrong"):
        second(pl.Series(["wrong"]))
    assert second(SHORT) == ["second_0"]


def test_without_another_thread_it_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system allows no more threads, or Python ends."""

    def refused(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(keptregexes, "_threads", {})
    monkeypatch.setattr(threading.Thread, "start", refused)

    assert second(SHORT) == [threading.current_thread().name]


def test_a_copy_of_the_process_has_threads_of_its_own() -> None:
    """It has none of those that were started before."""
    assert second(SHORT) == ["second_0"]
    child = os.fork()
    if child == 0:
        os._exit(0 if keptregexes._threads == {} and second(SHORT) == ["second_0"] else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
