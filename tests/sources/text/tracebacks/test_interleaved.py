"""Tracebacks of processes that print at once."""

from pathlib import Path

import pytest

from loganalyst.sources.text.tracebacks import chains, interleaved, traces
from loganalyst.sources.text.tracebacks.headers import HEADER
from tests.sources.text.tracebacks.traceback_cases import FRAME, blocks, rows, values


def test_two_processes_without_prefixes(tmp_path: Path) -> None:
    """Both exceptions are reported; frames only where both printed the same."""
    head, frame = "Traceback (most recent call last):", '  File "/a.py", line {}, in f'
    same = [head, head, frame.format(3), frame.format(3), "ValueError: one", "KeyError: 'two'"]
    other = [head, head, frame.format(3), frame.format(4), "ValueError: one", "KeyError: 'two'"]

    alike, mixed = (blocks(tmp_path, "\n".join(lines) + "\n") for lines in (same, other))
    assert values(alike, "exception", "frame") == [("ValueError", "/a.py:3 in f"), ("KeyError", "/a.py:3 in f")]
    assert values(mixed, "exception", "frame") == [("ValueError", None), ("KeyError", None)]


@pytest.mark.parametrize(
    ("said", "endings", "frames"),
    [
        (["H", "H", "3", "3", "AError", "BError"], ["AError", "BError"], [3, 3]),
        (["H", "3", "H", "AError", "3", "BError"], ["AError", "BError"], [3, 3]),
        (["H", "H", "3", "AError", "4", "BError"], ["AError", "BError"], [None, None]),
        (["H", "3", "H", "4", "AError", "BError"], ["AError", "BError"], [None, None]),
        (["H", "H", "3", "3", "AError", "H", "3", "BError", "CError"], ["AError", "BError", "CError"], [3, 3, 3]),
        (
            ["H", "H", "3", "4", "AError", "H", "5", "BError", "CError"],
            ["AError", "BError", "CError"],
            [None, None, None],
        ),
        (["H", "3", "H", "4", "AError"], [None, "AError"], [3, None]),
        (["H", "3", "killed", "H", "4", "AError"], [None, "AError"], [3, 4]),
        (["H", "H", "4", "AError"], [None, "AError"], [None, None]),
        (["H", "3", "H", "4", "AError", "on", "H", "5", "BError"], [None, "AError", "BError"], [3, None, None]),
        (["H", "3", "on", "H", "4", "5", "AError"], [None, "AError"], [3, 5]),
        (["H", "3", "on", "H", "4", "    a()", "    b()", "AError"], [None, "AError"], [3, None]),
        (["H", "3", "on", "H", "4", "AError", "on", "BError"], [None, "AError"], [3, None]),
    ],
)
def test_processes_that_print_at_once(said: list[str], endings: list[str | None], frames: list[int | None]) -> None:
    """`H` is a header, a number the line of a frame. Exceptions go to the headers in order; a frame of an unknown
    process is none.
    """
    text = [HEADER + ":" if line == "H" else FRAME.format(line, "f") if line.isdigit() else line for line in said]
    found = chains.find(rows(*text))

    assert [one.exception for one in found] == endings
    assert [one.frame for one in found] == [line and f"/a.py:{line} in f" for line in frames]


def test_exceptions_go_to_the_headers_in_order() -> None:
    (printer,) = rows(HEADER + ":", HEADER + ":", "AError: x", "BError: y")
    found = traces.printed(printer)
    interleaved.untangle(found)

    assert [(one.found.row, one.found.exception) for one in found] == [(2, "AError"), (3, "BError")]
