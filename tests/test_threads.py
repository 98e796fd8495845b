"""Several threads give the same results as one."""

import threading

import pytest

import loganalyst as la
from fixtures.truth import RUNS
from loganalyst import threads
from loganalyst.threads import side_by_side


@pytest.mark.parametrize(("values", "spare", "shared"), [(1, 1, True), (0, 1, False), (1, 0, False)])
def test_threads_are_used_for_many_values(
    monkeypatch: pytest.MonkeyPatch, values: int, spare: int, shared: bool
) -> None:
    """Only if processors are left; the results are in the order of the items."""
    monkeypatch.setattr(threads, "spare", lambda: spare)
    names: set[str] = set()

    def square(n: int) -> int:
        names.add(threading.current_thread().name)
        return n * n

    monkeypatch.setattr(threads, "processors", lambda: 2)
    found = side_by_side(square, range(100), values=values * threads.MIN_VALUES)

    assert found == [n * n for n in range(100)]
    assert (threading.current_thread().name not in names) == shared


@pytest.mark.parametrize(
    ("values", "largest", "threads_"), [(199_999, 1, 1), (200_000, 1, 2), (9 << 20, 9 << 20, 0), (9 << 20, 4 << 20, 2)]
)
def test_thread_count(monkeypatch: pytest.MonkeyPatch, values: int, largest: int, threads_: int) -> None:
    """Large calls get fewer threads, for the sake of memory."""
    monkeypatch.setattr(threads, "spare", lambda: 1)
    monkeypatch.setattr(threads, "processors", lambda: 2)

    assert threads.thread_count(values, largest) == threads_


@pytest.mark.parametrize("run", ["nan-lr", "healthy-gpt-noisy"])
def test_a_diagnosis_is_the_same(monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    """Every feature, finding and cause."""
    path = RUNS / run
    alone = la.diagnose(path).to_json()
    monkeypatch.setattr(threads, "thread_count", lambda *_: 4)

    assert la.diagnose(path).to_json() == alone
