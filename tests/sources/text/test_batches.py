"""A second process scans a large log: the result is the same, whatever happens to that process."""

import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.limits import spare
from loganalyst.model import Tables
from loganalyst.processes import streams
from loganalyst.processes.worker import DiedError
from loganalyst.sources.text import batches, reader
from loganalyst.sources.text.lines import loglines as textlines
from loganalyst.sources.text.patterns.catalogue import Also
from loganalyst.sources.text.sizes import SIZES, Sizes

TABLES = ("points", "lines", "blocks", "config", "gaps", "sessions")
KINDS = (
    b"2024-05-01 10:00:02,250 - INFO - step 17/100 | loss 0.5 | lr 1e-3\n",
    b"Epoch 1: 37%|###  | 17/100 [00:17<00:20, 3.1it/s, loss=0.25]\r",
    b"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
    b'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n',
    b"\x1b[32mdone\x1b[0m\r\n",
    "perte : 0,5 é\n".encode(),
    "perte : 0,5 é\n".encode("latin-1"),
    b"\x00\x08no line end " * 20,
    b"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-05-01T10:00:00 DUE TO TIME LIMIT ***\n",
    b"a line of nothing in particular\n",
)
Each = Callable[..., Iterator[Any]]


def reading(path: Path, sizes: Sizes = SIZES) -> Tables:
    return Tables.concat(list(reader.read(path, sizes)))


def same(found: Tables, expected: Tables) -> None:
    for name in TABLES:
        assert getattr(found, name).equals(getattr(expected, name)), name


def here(_module: str, function: str, *arguments: Any) -> Iterator[Any]:
    """The items that the other process would send, without one."""
    return (pickle.loads(pickle.dumps(item)) for item in getattr(batches, function)(*arguments))


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that the other process is asked for; they run here."""
    asked: list[str] = []

    def each(module: str, function: str, *arguments: Any) -> Iterator[Any]:
        asked.append(function)
        return here(module, function, *arguments)

    monkeypatch.setattr(batches, "spare", lambda: 1)
    monkeypatch.setattr(batches, "_start_helper", lambda: None)
    monkeypatch.setattr(streams, "stream", each)
    return asked


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.one_of(st.sampled_from(KINDS), st.binary(max_size=40)), max_size=40),
    st.integers(100, 3000),
    st.booleans(),
)
def test_sent_batches_equal_those_scanned_here(
    tmp_path: Path, helped: list[str], parts: list[bytes], chunk: int, wide: bool
) -> None:
    path = tmp_path / "job.log"
    data = b"".join(parts)
    path.write_bytes(data.decode("latin-1").encode("utf-16") if wide else data)
    same(reading(path, Sizes(batch=chunk, shared=0)), reading(path, Sizes(batch=chunk)))


@pytest.mark.parametrize("plain", [True, False])
def test_unchanged_rows_are_not_sent(tmp_path: Path, plain: bool) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(KINDS[0] * 3 + (b"" if plain else KINDS[4]))
    log = batches.Log(path, path.stat().st_size, textlines.Place(), (), Also(("CUDA",)))
    ((sent, *_),) = batches.pack(log)

    assert isinstance(sent[0], int) == plain
    with path.open("rb") as file:
        chunk = batches._unpack(file.fileno(), *sent)
    ((expected, *_), _), = batches._scanned(log)  # fmt: skip
    assert (chunk.data, chunk.plain) == (expected.data, expected.plain)
    for name in ("starts", "line", "offset"):
        assert getattr(chunk, name).tolist() == getattr(expected, name).tolist()


def test_two_processes_read_the_same_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "slurm-7.out"
    steps = (KINDS[0].replace(b"17/100", b"%d/999" % step) for step in range(400_000))
    path.write_bytes(b"".join(steps) + KINDS[2] + KINDS[3])
    expected = reading(path)
    asked, each = [], streams.stream
    monkeypatch.setattr(batches, "spare", lambda: 1)
    monkeypatch.setattr(streams, "stream", lambda *named: (asked.append(named[1]), each(*named))[1])
    batches._start_helper()
    monkeypatch.setattr(batches, "_start_helper", lambda: None)  # it runs already, however busy the machine is
    found = reading(path, Sizes(shared=0))

    assert asked.count("pack") == 1
    same(found, expected)


@pytest.mark.parametrize("error", [DiedError("signal 9"), OSError("no more processes"), EOFError()])
@pytest.mark.parametrize("given", [0, 1, 3])
def test_this_process_scans_the_rest_where_the_other_ends(
    tmp_path: Path, helped: list[str], monkeypatch: pytest.MonkeyPatch, given: int, error: Exception
) -> None:
    def dying(*named: Any) -> Iterator[Any]:
        for _, item in zip(range(given), here(*named), strict=False):
            yield item
        raise error

    path = tmp_path / "job.log"
    path.write_bytes(b"".join(KINDS) * 8)  # seven batches
    monkeypatch.setattr(streams, "stream", dying)

    if isinstance(error, EOFError):  # not the end of a process: a defect of ours, which must show
        with pytest.raises(EOFError):
            reading(path, Sizes(batch=1000, shared=0))
    else:
        same(reading(path, Sizes(batch=1000, shared=0)), reading(path, Sizes(batch=1000)))


def test_a_log_that_was_cut_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_bytes(KINDS[0] * 3)
    log = batches.Log(path, path.stat().st_size, textlines.Place(), (), Also(("CUDA",)))
    ((sent, *_),) = batches.pack(log)
    os.truncate(path, 10)

    with path.open("rb") as file, pytest.raises(OSError, match="cut while it was read"):
        batches._unpack(file.fileno(), *sent)


def test_a_worker_or_a_single_processor_starts_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert spare() == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert spare() == 0
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(multiprocessing, "parent_process", object)
    assert spare() == 0
