"""Margins of tracebacks."""

from loganalyst.sources.text.tracebacks.margins import without_margins


def test_a_margin_is_removed() -> None:
    """A line without the margin belongs to another process."""
    found = without_margins(["  | Traceback (most recent call last):", '  |   File "a.py"', "x"], 0, 3)

    assert found.text == ["Traceback (most recent call last):", '  File "a.py"', "? x"]
    assert found.depth == 2


def test_a_box_and_a_stamp_are_removed() -> None:
    """Rich draws the box; a logger repeats its stamp with other digits."""
    boxed = without_margins(["│ Traceback (most recent call last) │", "│ KeyError: 'x' │"], 0, 2)
    stamped = without_margins(["09:10:11 Traceback (most recent call last):", "09:10:12 KeyError: 'x'"], 0, 2)

    assert (boxed.text, boxed.depth) == (["Traceback (most recent call last)", "KeyError: 'x'"], 4)
    assert (stamped.text, stamped.depth) == (["Traceback (most recent call last):", "KeyError: 'x'"], 0)
