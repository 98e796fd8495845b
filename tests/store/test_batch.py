"""Results are written when they are many, when they are old, and at the end."""

import time

import pytest

from loganalyst.store.batch import Batch


def test_results_are_written_when_they_are_many() -> None:
    written: list[list[int]] = []
    with Batch[int](written.append, max_runs=2) as batch:
        for i in range(5):
            batch.add(i)
            batch.write_if_due()

    assert written == [[0, 1], [2, 3], [4]]


def test_results_are_written_when_they_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[list[int]] = []
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0, 8.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with Batch[int](written.append, max_seconds=5) as batch:
        for i in range(3):
            batch.add(i)
            batch.write_if_due()

    assert written == [[0, 1], [2]]


def test_an_error_loses_no_result_and_nothing_is_written_for_no_result() -> None:
    written: list[list[int]] = []

    def failing() -> None:
        with Batch[int](written.append) as batch:
            batch.add(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    with Batch[int](written.append):
        pass

    assert written == [[1]]
