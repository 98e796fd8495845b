"""Bytes as clean UTF-8."""

import pytest

from loganalyst.sources.text.lines.cleanbytes import clean, decoded


def test_only_a_line_that_is_no_utf8_is_read_as_latin1() -> None:
    assert decoded("é\n".encode() + b"\xe9\nplain") == "é\né\nplain".encode()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[31mred\x1b[0m", b"red"),
        (b"\x1b]0;title\x07 line", b" line"),
        (b"\xef\xbb\xbfa\x00b", b"ab"),
        (b"10\x08\x0820", b"10\r\r20"),
    ],
)
def test_terminal_codes_go_and_backspaces_are_refreshes(data: bytes, text: bytes) -> None:
    assert clean(data) == text
