"""A function of many items: results and failures come back, and the death of a process costs its item only."""

import os
import signal
import sys
import time

import pytest

from loganalyst.limits import Limits
from loganalyst.processes.crewmember import NotStartedError
from loganalyst.processes.eachitem import Ready, each


def _double(item: int) -> int:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if item == 4:
        sys.exit(7)
    if item == 5:
        raise ValueError("odd")
    assert os.environ["POLARS_MAX_THREADS"] == "1"
    return 2 * item


def _slow(item: str) -> str:
    if item == "slow":
        time.sleep(600)
    return item


def _why(item: object, why: str) -> str:
    return f"{item} {why}"


def test_a_worker_that_dies_costs_its_item() -> None:
    """The others go on; signal, exit code or exception are reported."""
    found = set(each(_double, [1, 2, 3, 4, 5, Ready(99), 6], 2, _why))

    assert found == {
        2,
        4,
        12,
        99,
        "3 the process that read it died (signal 9)",
        "4 the process that read it died (exit code 7)",
        "5 failed (ValueError: odd)",
    }


def test_one_process_without_limits_is_this_one() -> None:
    assert list(each(os.getpgid, [0, Ready(-1)], 1, lambda *_: 0)) == [os.getpgid(0), -1]


def test_workers_of_another_kind_do_the_work() -> None:
    class Elsewhere:
        def each(self, function, items, died, limits):  # type: ignore[no-untyped-def]
            return (("elsewhere", item, limits) for item in items)

    assert list(each(abs, [1], 4, _why, workers=Elsewhere())) == [("elsewhere", 1, Limits())]


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not count as a failure of the items."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(NotStartedError, match=r"cannot be started \(exit code 1\)"):
        list(each(_double, [1, 2], 2, _why))


def test_leaving_early_ends_the_workers() -> None:
    results = each(_slow, ["a", "slow", "slow"], 2, _why)
    assert next(results) == "a"
    since = time.monotonic()
    results.close()  # type: ignore[attr-defined]

    assert time.monotonic() - since < 60
