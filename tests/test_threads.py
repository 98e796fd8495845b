"""Work that several threads share gives what one gives."""

import threading

import pytest

import loganalyst as la
from fixtures.truth import RUNS
from loganalyst import threads
from loganalyst.threads import side_by_side


@pytest.mark.parametrize(("values", "spare", "shared"), [(1, 1, True), (0, 1, False), (1, 0, False)])
def test_threads_where_they_are_worth_it(
    monkeypatch: pytest.MonkeyPatch, values: int, spare: int, shared: bool
) -> None:
    """Of many values, where processors are left; the results are in the order of the items."""
    monkeypatch.setattr(threads, "spare", lambda: spare)
    names: set[str] = set()

    def square(n: int) -> int:
        names.add(threading.current_thread().name)
        return n * n

    found = side_by_side(square, range(100), values=values * threads.WORTH)

    assert found == [n * n for n in range(100)]
    assert (threading.current_thread().name not in names) == shared


@pytest.mark.parametrize("run", ["nan-lr", "healthy-gpt-noisy"])
def test_a_diagnosis_is_the_same(monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    """Every feature, finding and cause."""
    path = RUNS / run
    alone = la.diagnose(path).to_json()
    monkeypatch.setattr(threads, "WORTH", 0)
    monkeypatch.setattr(threads, "spare", lambda: 1)

    assert la.diagnose(path).to_json() == alone
