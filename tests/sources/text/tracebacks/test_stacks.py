"""Stacks below Python: C++, CUDA, crashed interpreters."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loganalyst.sources.text.sizes import Sizes
from loganalyst.sources.text.tracebacks.textblocks import WORDS
from tests.sources.text.tracebacks.traceback_cases import TABLE, blocks, values


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
    """The thrown class, its message, and where it was raised, if that is printed."""
    assert values(blocks(tmp_path, log + "\n"), "kind", "exception", "message", "frame") == [
        ("cpp", exception, message, frame)
    ]


def test_a_c_stack_below_an_exception_is_part_of_it(tmp_path: Path) -> None:
    """The C++ frames that torch prints with a Python exception are no block of their own."""
    log = (
        'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nRuntimeError: CUDA error: x\n'
        "Exception raised from check at ../c10/a.cpp:44 (most recent call first):\nframe #0: g\n"
    )
    assert values(blocks(tmp_path, log), "kind", "exception", "frame") == [("python", "RuntimeError", "/a.py:3 in f")]


def test_a_cut_off_traceback(tmp_path: Path) -> None:
    """It has its frames, and no exception is known."""
    log = 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    g()\n'

    assert values(blocks(tmp_path, log), "exception", "frame", "last_line") == [(None, "/a.py:3 in f", 2)]


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
