"""Text with NUL bytes in it."""

from loganalyst.sources.files.lineblocks import Block
from loganalyst.sources.tables.nulbytes import Hole, holed, pieces


def test_holed():
    """Whole lines with NUL bytes between are text; other control characters, or no whole line, are not."""
    assert holed(b"a,b\n1,2\n\0\0\0,4\n")
    assert not holed(b"a,b\n1,2\n")
    assert not holed(b"\0\0\n\0")
    assert not holed(b"a,b\n\x01\0\n")


def test_pieces():
    """Lines with NUL bytes become holes, with their offset, extent and first line."""
    found = list(pieces(Block(b"a\n\0\0\n\0b\nc\n", 5, 100)))

    assert found == [Block(b"a\n", 5, 100), Hole(102, 6, 6), Block(b"c\n", 8, 108)]
    assert list(pieces(Block(b"a\n", 1, 0))) == [Block(b"a\n", 1, 0)]
