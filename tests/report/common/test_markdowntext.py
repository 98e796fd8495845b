"""Pieces of Markdown."""

import pytest

from loganalyst.report.common import markdowntext as md
from loganalyst.report.common.rows import Row


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b <i> [x](y) $z$ &amp;", r"a\|b \<i\> \[x\](y) \$z\$ \&amp;"),
        ("grad_norm and _x_", r"grad_norm and \_x\_"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("=====", r"\====="),
        ("-0.5", "-0.5"),
    ],
)
def test_text_stays_text(text, escaped):
    """Markup, HTML, list markers and underlines are escaped; words and numbers stay readable."""
    assert md.escape(text) == escaped


def test_a_table_escapes_its_cells():
    """A bar in a cell adds no column."""
    assert md.table(("a", ""), [("x|y", "z")]) == "| a |  |\n| --- | --- |\n| x\\|y | z |"
    assert [*md.rows("Title", [Row("k", "v")])] == ["## Title\n\n|  |  |\n| --- | --- |\n| k | v |"]


def test_empty_pieces_are_left_out():
    """No heading stands without content."""
    assert [*md.rows("t", []), *md.paragraph("t", ""), *md.section("t", []), *md.titled_table("t", ("a",), [])] == []
    assert [*md.section("t", ["a", "*b*"], level=3)] == ["### t\n\n- a\n- \\*b\\*"]
    assert [*md.paragraph("t", "x")] == ["### t\n\nx"]
