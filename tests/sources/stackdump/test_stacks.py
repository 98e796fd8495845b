"""The stacks in dumps of py-spy and faulthandler."""

import json

import pytest

from loganalyst.sources.stackdump.stacks import Frame, of_json, of_text

SPY = """Process 77: python -u train.py --local_rank=3
Python v3.11.7 (/usr/bin/python3.11)

Thread 77 (active+gil): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2450)
    main (train.py:40)
        Arguments:
            rank: 3
Thread 0x7F4A (idle): "Thread-1"
    futex_wait (libc.so.6)
Process 78: python -u train.py
Thread 78 (idle)
    select (selectors.py:415)
"""


def test_processes_and_threads_of_py_spy() -> None:
    first, second = of_text(SPY)

    assert (first.rank, first.first_line, first.last_line) == (3, 1, 10)
    assert [t.name for t in first.threads] == ["MainThread", "Thread-1"]
    assert [str(f) for f in first.threads[0].frames] == [
        "all_reduce (torch/distributed/distributed_c10d.py:2450)",
        "main (train.py:40)",
    ]
    assert first.threads[1].frames == [Frame("futex_wait", "libc.so.6", "")]
    assert (second.rank, second.first_line, [t.name for t in second.threads]) == (None, 11, [""])


def test_faulthandler_prints_one_process() -> None:
    text = 'Timeout (0:10:00)!\nThread 0x00007f3c (most recent call first):\n  File "/a/train.py", line 7 in train\n'
    (process,) = of_text(text)

    assert process.threads[0].frames == [Frame("train", "/a/train.py", "7")]


def test_json_of_py_spy() -> None:
    frame = {"name": "wait", "filename": "/usr/lib/threading.py", "short_filename": "threading.py", "line": 324}
    info = {"command_line": "python train.py --local-rank 1"}
    threads = [{"pid": 5, "thread_name": n, "frames": [frame], "process_info": info} for n in ("MainThread", None)]
    (process,) = of_json(json.dumps(threads))

    assert process.rank == 1
    assert [t.name for t in process.threads] == ["MainThread", ""]
    assert process.threads[0].frames == [Frame("wait", "/usr/lib/threading.py", "324")]


@pytest.mark.parametrize("text", ["[1]", '{"pid": 1}', "["])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (json's own error is one)
        list(of_json(text))
