"""Blocks that are no Python tracebacks: what launchers, CUDA, NCCL, XLA and C++ print."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.model import Run, Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.sizes import SIZES, Sizes
from loganalyst.sources.text.tracebacks.textblocks import WORDS

ASSERT = "/a/Loss.cu:250: void at::native::nll<int>(): block: [{},0,0], thread: [{},0,0] Assertion `t` failed."
WATCHDOG = (
    "[rank{0}]:[E ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL({1})"
)
TABLE = """\
Traceback (most recent call last):
  File "/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-01-02_03:04:06
  host      : gpu7
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 61)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 61
[2]:
  time      : 2026-01-02_03:04:07
  host      : gpu8
  rank      : 9 (local_rank: 1)
  exitcode  : -15 (pid: 62)  (SIGTERM)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 62
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-01-02_03:04:05
  host      : gpu8
  rank      : 8 (local_rank: 0)
  exitcode  : 1 (pid: 63)
  error_file: /tmp/e.json
  traceback : Traceback (most recent call last):
    File "/home/me/train.py", line 5, in main
      raise ValueError("boom")
  ValueError: boom

============================================================
"""


def blocks(path: Path, log: str, sizes: Sizes = SIZES) -> list[dict[str, Any]]:
    """The blocks of a log."""
    file = path / "a.log"
    file.write_text(log)
    return Tables.concat(reader.read(file, sizes)).blocks.to_dicts()


def told(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_torchrun_names_who_failed_first(tmp_path: Path) -> None:
    """The rank that failed first with its traceback, the others by how they ended; the launcher because of it."""
    rows = blocks(tmp_path, TABLE)

    assert told(rows, "kind", "message", "rank", "node", "ranks", "parent") == [
        ("python", "train.py FAILED", None, None, None, 2),
        ("torchrun", "train.py: exit code -15 (SIGTERM); Signal 15 (SIGTERM) received", 0, "gpu7", [0, 9], None),
        ("torchrun", "train.py: exit code 1; error file /tmp/e.json", 8, "gpu8", [8], 3),
        ("python", "boom", 8, "gpu8", [8], None),
    ]
    assert [row["frame"] for row in rows] == [None, None, None, "/home/me/train.py:5 in main"]
    assert [str(row["time"])[:19] for row in rows[1:3]] == ["2026-01-02 03:04:06", "2026-01-02 03:04:05"]


def test_the_launchers_block_is_that_of_the_rank(tmp_path: Path) -> None:
    """Asked for the launcher's line, the run gives the traceback of the rank that failed first."""
    (tmp_path / "a.log").write_text(TABLE)
    run = Run(blocks=Tables.concat(reader.read(tmp_path / "a.log")).blocks)

    found = run.block("a.log", 4)
    assert found is not None
    assert (found["message"], found["rank"]) == ("boom", 8)
    assert run.block("a.log", 6) is None
    assert run.block("b.log", 4) is None


def test_srun_lists_tasks(tmp_path: Path) -> None:
    """Tasks are ranks; another exit code is another block; a step daemon's words have its node."""
    log = """\
srun: error: gpu1: tasks 0-2,5: Exited with exit code 1
srun: error: gpu2: task 8: Exited with exit code 1
srun: error: gpu2: task 9: Exited with exit code 137
slurmstepd: error: *** STEP 7.0 ON gpu1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***
"""
    assert told(blocks(tmp_path, log), "kind", "message", "node", "ranks", "repeated") == [
        ("srun", "Exited with exit code 1", "gpu1", [0, 1, 2, 5, 8], 2),
        ("srun", "Exited with exit code 137", "gpu2", [9], 1),
        ("srun", "*** STEP 7.0 ON gpu1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***", "gpu1", None, 1),
    ]


def test_asserts_of_many_threads_are_one(tmp_path: Path) -> None:
    """However many threads print it; the block goes to the last line that says so."""
    log = "\n".join(ASSERT.format(i // 32, i % 32) for i in range(500))

    assert told(blocks(tmp_path, log), "kind", "exception", "message", "frame", "last_line", "repeated") == [
        ("cuda", "device-side assert", "Assertion `t` failed",
         "/a/Loss.cu:250 in at::native::nll", 500, 500)
    ]  # fmt: skip


def test_watchdogs_of_ranks_are_one(tmp_path: Path) -> None:
    """The same operation with other numbers is the same; another operation is not."""
    log = "\n".join(
        [WATCHDOG.format(r, f"SeqNum={100 + r}, OpType=ALLREDUCE, Timeout(ms)=600000") for r in (3, 1)]
        + [WATCHDOG.format(2, "SeqNum=7, OpType=BROADCAST, Timeout(ms)=600000")]
    )
    rows = blocks(tmp_path, log)

    assert told(rows, "kind", "rank", "ranks") == [("nccl", 3, [1, 3]), ("nccl", 2, [2])]
    assert rows[0]["message"] == "WorkNCCL(SeqNum=103, OpType=ALLREDUCE, Timeout(ms)=600000)"


@pytest.mark.parametrize(
    ("log", "exception", "message", "frame"),
    [
        ("terminate called after throwing an instance of 'c10::Error'\n  what():  no memory\nframe #0: f + 0x1",
         "c10::Error", "no memory", None),
        ("[E x.cpp:9] CUDA error: bad address\nCUDA kernel errors might be asynchronously reported\n\n"
         "Exception raised from check at ../c10/cuda/CUDAException.cpp:44 (most recent call first):\nframe #0: g",
         "c10::Error", "[E x.cpp:9] CUDA error: bad address", "../c10/cuda/CUDAException.cpp:44 in check"),
        ("*** Error in `python': free(): invalid pointer: 0x7f ***", "heap corruption",
         "free(): invalid pointer: 0x7f ***", None),
        ("[n1:7] *** Process received signal ***\n[n1:7] Signal: Segmentation fault (11)\n[n1:7] [ 0] /lib/libc.so",
         "signal", "Segmentation fault (11)", None),
    ],
)  # fmt: skip
def test_stacks_below_python(tmp_path: Path, log: str, exception: str, message: str, frame: str | None) -> None:
    """What was thrown, what it says, and where it was raised, if that is told."""
    assert told(blocks(tmp_path, log + "\n"), "kind", "exception", "message", "frame") == [
        ("cpp", exception, message, frame)
    ]


def test_a_c_stack_below_an_exception_is_part_of_it(tmp_path: Path) -> None:
    """The frames of C++ that torch prints with a Python exception are no block of their own."""
    log = (
        'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nRuntimeError: CUDA error: x\n'
        "Exception raised from check at ../c10/a.cpp:44 (most recent call first):\nframe #0: g\n"
    )
    assert told(blocks(tmp_path, log), "kind", "exception", "frame") == [("python", "RuntimeError", "/a.py:3 in f")]


def test_xla(tmp_path: Path) -> None:
    """XLA's exception, without the origin of the operation that JAX prints before it; its allocator's dump."""
    log = """\
W external/xla/bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB
Traceback (most recent call last):
  File "/a.py", line 3, in f
jax._src.source_info_util.JaxStackTraceBeforeTransformation: jaxlib.xla_extension.XlaRuntimeError: INTERNAL: x

The preceding stack trace is the source of the JAX operation that, once transformed by JAX, triggered the following.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/a.py", line 9, in <module>
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 99 bytes.
"""
    assert told(blocks(tmp_path, log), "kind", "exception", "message", "frame", "parent") == [
        ("xla", "RESOURCE_EXHAUSTED", "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB",
         None, None),
        ("xla", "jaxlib.xla_extension.XlaRuntimeError",
         "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 99 bytes.", "/a.py:9 in <module>", None),
    ]  # fmt: skip


def test_two_processes_without_prefixes(tmp_path: Path) -> None:
    """Both exceptions are told; whose frames are whose only where both are the same."""
    head, frame = "Traceback (most recent call last):", '  File "/a.py", line {}, in f'
    same = [head, head, frame.format(3), frame.format(3), "ValueError: one", "KeyError: 'two'"]
    other = [head, head, frame.format(3), frame.format(4), "ValueError: one", "KeyError: 'two'"]

    alike, mixed = (blocks(tmp_path, "\n".join(lines) + "\n") for lines in (same, other))
    assert told(alike, "exception", "frame") == [("ValueError", "/a.py:3 in f"), ("KeyError", "/a.py:3 in f")]
    assert told(mixed, "exception", "frame") == [("ValueError", None), ("KeyError", None)]


def test_a_cut_off_traceback(tmp_path: Path) -> None:
    """It has its frames, and no exception is known."""
    log = 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    g()\n'

    assert told(blocks(tmp_path, log), "exception", "frame", "last_line") == [(None, "/a.py:3 in f", 2)]


def test_many_blocks_are_thinned(tmp_path: Path) -> None:
    """The first and the last are kept, and a gap says how many are not."""
    file = tmp_path / "a.log"
    words = [f"{a}{b}" for a in "bcdfghjklmnpqrstvwxz" for b in "bcdfghjklmnpqrstvwxzaeiou"]
    body = 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nValueError: '
    file.write_text("".join(f"{body}{word}\n" for word in words))
    tables = Tables.concat(reader.read(file))

    assert tables.blocks["message"].to_list() == [*words[:200], *words[-200:]]
    assert f"{len(words) - 400} more tracebacks and stacks not listed" in tables.gaps["why"].to_list()


PIECES = (
    *WORDS, *TABLE.split("\n"), "  + Exception Group Traceback (most recent call last):", "    | ValueError: x", "\r",
    "  +-+---------------- 1 ----------------", "    +---------------- 2 ----------------", '  File "a.py", line 3',
    "-- Process 99999999999999999999 terminated with the following error:", "srun: error: n1: tasks 9-2,0-9999999: x",
    "│ /a.py:3 in │", "Current thread 0x1 (most recent call first):", "Original Traceback (most recent call last):",
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.tuples(st.sampled_from(["", "[rank1]: ", "0: "]), st.sampled_from(PIECES)), max_size=60),
    chunk=st.integers(200, 3000),
)
def test_pieces_of_blocks_in_any_order(tmp_path: Path, lines: list[tuple[str, str]], chunk: int) -> None:
    """Nothing raises; a block lies within the file and does not lead to itself."""
    rows = blocks(tmp_path, "\n".join(prefix + piece for prefix, piece in lines), Sizes(batch=chunk))

    assert [row["block"] for row in rows] == list(range(len(rows)))
    assert all(1 <= row["first_line"] <= row["last_line"] <= max(len(lines), 1) for row in rows)
    assert all(row["parent"] != row["block"] and row["repeated"] >= 1 for row in rows)
