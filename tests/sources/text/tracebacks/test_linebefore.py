"""What the line before a traceback says of it."""

import pytest

from loganalyst.sources.text.tracebacks import linebefore


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Exception in thread Thread-3 (_monitor):", ["harmless", "is_thread"]),
        ("Exception ignored in: <function Pool.__del__>", ["harmless", "ignored"]),
        ("2026-03-04 10:00:01,000 ERROR worker: broke", ["is_record"]),
        ("WARNING:root:no apex", ["is_record", "is_warning"]),
        ("a.py:31: RuntimeWarning: slow:", ["is_warning"]),
        ("[rank0]:W0304 10:00:02.100000 8 a.py:7] x", ["is_warning_record"]),
        ("Process Uploader-2:", ["is_child"]),
        ("-- Process 3 terminated with the following error:", ["is_quoted"]),
        ("4 fits failed with the following error:", ["is_quoted"]),
        ("loss 0.5", []),
    ],
)
def test_what_a_line_says(line: str, says: list[str]) -> None:
    """Each of these lines says no more than that."""
    asked = (
        "harmless",
        "ignored",
        "is_child",
        "is_quoted",
        "is_record",
        "is_thread",
        "is_warning",
        "is_warning_record",
    )

    assert [name for name in asked if getattr(linebefore, name)(line)] == says


def test_the_process_whose_traceback_follows() -> None:
    assert linebefore.next_process("-- Process 3 terminated with the following error:") == 3
