"""Text that fits into a table."""

from loganalyst.model.tabletext import printable


def test_what_is_no_utf8_is_replaced() -> None:
    """Half of a surrogate pair becomes a question mark; all else stays."""
    assert printable("a\ud800b") == "a?b"
    assert printable("é\x00😀") == "é\x00😀"
    assert printable(7) == "7"
