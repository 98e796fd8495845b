"""Worker processes: what they yield, return and raise comes back; their death costs the request in hand only."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from loganalyst import processes
from loganalyst.limits import Limits, spare
from loganalyst.processes import DiedError, NotStartedError, Ready, Worker, each, in_stripes, kept, stream


class TestStream:
    def test_items_come_one_by_one(self) -> None:
        assert list(stream("builtins", "range", 3)) == [0, 1, 2]
        assert list(stream("builtins", "range", 0)) == []

    def test_an_exception_is_raised_here(self) -> None:
        with pytest.raises(FileNotFoundError):
            list(stream("os", "scandir", "/nowhere/at/all"))

    def test_after_a_death_the_next_call_works(self) -> None:
        with pytest.raises(DiedError, match="signal 6"):
            list(stream("os", "abort"))
        with pytest.raises(DiedError, match="exit code 3"):
            list(stream("os", "_exit", 3))
        assert list(stream("builtins", "range", 2)) == [0, 1]

    def test_one_process_serves_many_calls(self) -> None:
        list(stream("builtins", "range", 1))
        waiting = {worker.pid for worker in processes._idle}
        list(stream("builtins", "range", 1))

        assert {worker.pid for worker in processes._idle} == waiting

    def test_calls_may_be_nested(self) -> None:
        outer = stream("builtins", "range", 2)
        assert [(i, list(stream("builtins", "range", i))) for i in outer] == [(0, []), (1, [0])]

    def test_a_stream_that_is_not_read_to_its_end_leaves_no_process(self) -> None:
        many = stream("itertools", "count")
        assert next(many) == 0
        before = len(processes._idle)
        many.close()

        assert len(processes._idle) == before
        assert list(stream("builtins", "range", 1)) == [0]

    def test_printed_text_is_no_message(self) -> None:
        assert list(stream("builtins", "map", print, ["rubbish"])) == [None]

    def test_a_worker_asks_for_no_more_workers(self) -> None:
        assert list(stream("builtins", "map", _spare, [None])) == [0]

    def test_nothing_is_imported_from_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It may be a run."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", ["", *sys.path])
        (tmp_path / "no_such_module.py").write_text("")
        worker = Worker()
        with pytest.raises(ModuleNotFoundError):
            list(worker.stream("loganalyst.processes", "load", "no_such_module"))
        assert worker.end() == 0


def _spare(_: object) -> int:
    return spare()


def _double(item: int) -> int:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if item == 4:
        sys.exit(7)
    if item == 5:
        raise ValueError("odd")
    assert os.environ["POLARS_MAX_THREADS"] == "1"
    return 2 * item


def _process(_item: int) -> int:
    return os.getpid()


def _greedy(item: str) -> str:
    if item == "slow":
        time.sleep(600)
    if item == "big":
        held = bytearray(512 << 20)
        held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
        time.sleep(600)
    return item


def _why(item: object, why: str) -> str:
    return f"{item} {why}"


class TestEach:
    def test_a_worker_that_dies_costs_its_item(self) -> None:
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

    def test_an_item_that_exceeds_its_limits_is_given_up(self) -> None:
        """One item that hangs and one that takes too much memory cost themselves only."""
        limits = Limits(seconds=20, memory=400 << 20)
        found = list(each(_greedy, ["a", "slow", "b", "big", "c"], 2, _why, limits))

        assert sorted(found) == [
            "a",
            "b",
            "big took more than 400 MiB of memory, and was given up",
            "c",
            "slow took longer than 20 s, and was given up",
        ]

    def test_limits_hold_with_one_process(self) -> None:
        found = list(each(_greedy, ["a", "slow", "b"], 1, _why, Limits(seconds=0.5)))

        assert found == ["a", "slow took longer than 0.5 s, and was given up", "b"]

    def test_kept_workers_serve_the_next_call(self) -> None:
        """A worker that ended in between is replaced; all end with the context, and without it none is kept."""
        pid = partial(each, _process, [0], 1, lambda *_: 0, Limits())
        with kept():
            (first,), (again,) = pid(), pid()
            os.kill(first, signal.SIGKILL)
            os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
            (other,) = pid()
        (later,) = pid()

        assert first == again
        assert len({os.getpid(), first, other, later}) == 4
        with pytest.raises(ProcessLookupError):
            os.kill(other, 0)

    def test_one_process_without_limits_is_this_one(self) -> None:
        assert list(each(os.getpgid, [0, Ready(-1)], 1, lambda *_: 0)) == [os.getpgid(0), -1]

    def test_workers_of_another_kind_do_the_work(self) -> None:
        class Elsewhere:
            def each(self, function, items, died, limits):  # type: ignore[no-untyped-def]
                return (("elsewhere", item, limits) for item in items)

        assert list(each(abs, [1], 4, _why, workers=Elsewhere())) == [("elsewhere", 1, Limits())]

    def test_a_process_that_cannot_start_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It does not count as a failure of the items."""
        monkeypatch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(NotStartedError, match=r"cannot be started \(exit code 1\)"):
            list(each(_double, [1, 2], 2, _why))

    def test_leaving_early_ends_the_workers(self) -> None:
        results = each(_greedy, ["a", "slow", "slow"], 2, _why)
        assert next(results) == "a"
        since = time.monotonic()
        results.close()  # type: ignore[attr-defined]

        assert time.monotonic() - since < 60


class TestInStripes:
    @pytest.mark.parametrize("ways", [1, 2, 3])
    def test_results_are_in_the_order_of_the_items(self, ways: int) -> None:
        stripes: list[list[int]] = []

        def elsewhere(some: Sequence[int]) -> Iterator[int]:
            stripes.append(list(some))
            return (item * item for item in some)

        assert in_stripes(range(7), ways, lambda item: item * item, elsewhere) == [0, 1, 4, 9, 16, 25, 36]
        assert stripes == [list(range(7))[way::ways] for way in range(1, ways)]

    def test_what_a_worker_did_not_do_before_it_died_is_done_here(self) -> None:
        here: list[int] = []

        def dying(some: Sequence[int]) -> Iterator[int]:
            yield some[0]
            raise DiedError("signal 9")

        def one(item: int) -> int:
            here.append(item)
            return item

        assert in_stripes(range(6), 2, one, dying) == [0, 1, 2, 3, 4, 5]
        assert here == [0, 2, 4, 3, 5]

    def test_other_errors_are_raised(self) -> None:
        def broken(_: Sequence[int]) -> Iterator[int]:
            raise ValueError("a defect of ours")
            yield 0

        with pytest.raises(ValueError, match="a defect"):
            in_stripes(range(6), 2, abs, broken)
