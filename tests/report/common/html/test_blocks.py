"""Pieces of a section, left out where they are empty."""

from loganalyst.report.common.html import blocks
from loganalyst.report.common.rows import Row


def test_empty_pieces_are_left_out():
    """No heading, list or table without content."""
    empty = [
        blocks.headed("t", None), blocks.folded("t", None), blocks.paragraph("t", ""), blocks.section("t", ()),
        blocks.bullets(()), blocks.rows((), "k"), blocks.table(("a",), ()),
    ]  # fmt: skip

    assert blocks.present(*empty) == []
    assert blocks.place("") == []


def test_pieces_hold_their_texts():
    """A row is a term and its description; a table has the class of each row, and a hidden name for an empty head."""
    assert blocks.rows([Row("k", "<v>")], "facts") == '<dl class="facts"><dt>k</dt><dd>&lt;v&gt;</dd></dl>'
    table = blocks.table(("", "b"), [("x", "y")], ["for"])
    assert '<tr class="for"><td>x</td><td>y</td></tr>' in table
    assert '<th scope="col"><span class="hidden">Supports</span></th><th scope="col">b</th>' in table
