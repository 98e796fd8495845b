"""Syntax errors that Python prints without a header."""

from loganalyst.sources.text.tracebacks import syntaxerrors
from loganalyst.sources.text.tracebacks.printers import Printer

LINES = ['  File "a.py", line 3', "    x = = 1", "        ^", "SyntaxError: invalid syntax"]


def test_place_and_message() -> None:
    """The place is at most four rows above."""
    found = syntaxerrors.find([Printer("", [4, 5, 6, 7], LINES)], set())

    assert found == [
        ("python", 4, 7, "SyntaxError", "invalid syntax", "a.py:3 in ?", None, None, None, None, None)
    ]  # fmt: skip
    far = [LINES[0], *["x"] * 4, LINES[3]]
    assert syntaxerrors.find([Printer("", list(range(6)), far)], set()) == []


def test_an_error_with_a_traceback_is_skipped() -> None:
    assert syntaxerrors.find([Printer("", [4, 5, 6, 7], LINES)], {7}) == []
