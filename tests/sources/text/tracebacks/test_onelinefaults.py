"""Faults that are reported in one line."""

from pathlib import Path

import polars as pl

from loganalyst.sources.text.tracebacks import onelinefaults
from tests.sources.text.tracebacks.traceback_cases import blocks, values

ASSERT = "/a/Loss.cu:250: void at::native::nll<int>(): block: [{},0,0], thread: [{},0,0] Assertion `t` failed."


WATCHDOG = (
    "[rank{0}]:[E ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL({1})"
)


def test_srun_lists_tasks(tmp_path: Path) -> None:
    """Tasks are ranks; another exit code is another block; a step daemon's line has its node."""
    log = """\
srun: error: gpu1: tasks 0-2,5: Exited with exit code 1
srun: error: gpu2: task 8: Exited with exit code 1
srun: error: gpu2: task 9: Exited with exit code 137
slurmstepd: error: *** STEP 7.0 ON gpu1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***
"""
    assert values(blocks(tmp_path, log), "kind", "message", "node", "ranks", "repeated") == [
        ("srun", "Exited with exit code 1", "gpu1", [0, 1, 2, 5, 8], 2),
        ("srun", "Exited with exit code 137", "gpu2", [9], 1),
        ("srun", "*** STEP 7.0 ON gpu1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***", "gpu1", None, 1),
    ]


def test_asserts_of_many_threads_are_one(tmp_path: Path) -> None:
    """For any number of threads; the block ends at the last such line."""
    log = "\n".join(ASSERT.format(i // 32, i % 32) for i in range(500))

    assert values(blocks(tmp_path, log), "kind", "exception", "message", "frame", "last_line", "repeated") == [
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

    assert values(rows, "kind", "rank", "ranks") == [("nccl", 3, [1, 3]), ("nccl", 2, [2])]
    assert rows[0]["message"] == "WorkNCCL(SeqNum=103, OpType=ALLREDUCE, Timeout(ms)=600000)"


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
    assert values(blocks(tmp_path, log), "kind", "exception", "message", "frame", "parent") == [
        ("xla", "RESOURCE_EXHAUSTED", "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB",
         None, None),
        ("xla", "jaxlib.xla_extension.XlaRuntimeError",
         "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 99 bytes.", "/a.py:9 in <module>", None),
    ]  # fmt: skip


def test_the_parts_of_a_line() -> None:
    """A line that is a Python exception is skipped."""
    lines = [
        "srun: error: gpu07: tasks 0-3,7: Exited with exit code 1",
        "[Rank 3] Watchdog caught collective operation timeout: W(x)",
        "RuntimeError: NCCL WARN x",
    ]
    found = onelinefaults.find(pl.DataFrame({"body": lines}), pl.Series([2]))

    assert found.sort("first").select("kind", "first", "message", "rank", "node", "ranks").rows() == [
        ("srun", 0, "Exited with exit code 1", None, "gpu07", "0-3,7"),
        ("nccl", 1, "W(x)", 3, None, None),
    ]
