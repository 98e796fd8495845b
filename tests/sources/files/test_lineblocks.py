"""Text files as blocks of whole lines in UTF-8."""

from codecs import BOM_UTF8, BOM_UTF16_LE
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.files.lineblocks import Block, binary, blocks, count, place, text


def write(path: Path, data: bytes) -> Path:
    (path / "a.csv").write_bytes(data)
    return path / "a.csv"


def test_blocks_end_with_lines(tmp_path: Path) -> None:
    found = list(blocks(write(tmp_path, b"aa\nbb\ncc\ndd"), size=4))

    assert found == [Block(b"aa\nbb\n", 1, 0), Block(b"cc\ndd", 3, 6)]


def test_a_line_break_between_quotes_ends_no_line(tmp_path: Path) -> None:
    data = b'a,"x\ny\nz"\nb\n'

    assert [block.data for block in blocks(write(tmp_path, data), size=5)] == [b'a,"x\ny\nz"\n', b"b\n"]
    assert len(list(blocks(write(tmp_path, data), size=3, quoted=False))) > 2


def test_latin_lines_are_recoded(tmp_path: Path) -> None:
    """Offsets still count in the file."""
    found = list(blocks(write(tmp_path, "é\n".encode() + "é\n".encode("latin-1") + b"a\n")))

    assert [(b.data.decode(), b.line, b.offset, b.recoded) for b in found] == [
        ("é\n", 1, 0, False),
        ("é\n", 2, 3, True),
        ("a\n", 3, 5, False),
    ]
    assert found[1].at(3) == 5


def test_utf16_has_no_offsets(tmp_path: Path) -> None:
    data = BOM_UTF16_LE + "a,é\nb\n".encode("utf-16-le")

    assert list(blocks(write(tmp_path, data))) == [Block("a,é\nb\n".encode(), 1, None)]


@given(st.lists(st.sampled_from([b"a\n", "é\n".encode(), b"\xe9\n", b'"\n', b"b"]), max_size=20), st.integers(1, 12))
def test_all_bytes_are_read_once(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    found = list(blocks(write(tmp_path_factory.mktemp("x"), data), size=size))
    ends = [block.at(len(block.data)) for block in found]

    assert [block.offset for block in found] == [0, *ends[:-1]][: len(found)]
    assert (ends or [0])[-1] == len(data)
    assert [block.line for block in found] == [1 + data[: block.offset].count(b"\n") for block in found]


def test_parts_of_a_block() -> None:
    block = Block(b"a\nbb\nc\n", 7, 100)

    assert (block.breaks, block.begin(7), block.begin(8), block.begin(9)) == (3, 0, 2, 5)
    assert block.since(8) == Block(b"bb\nc\n", 8, 102)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"abc", "abc"),
        (BOM_UTF8 + b"abc", "abc"),
        (BOM_UTF16_LE + "aé".encode("utf-16-le"), "\ufeffaé".removeprefix("\ufeff")),
        (b"a\xe9b cdef", "aéb cdef"),
        ("abcé".encode()[:-1], "abc"),  # a character that was cut
    ],
)
def test_text(head: bytes, expected: str) -> None:
    assert text(head) == expected


def test_place() -> None:
    assert place("é,b".encode(), "é") == 2
    assert place(BOM_UTF8 + b"ab", "a") == 4
    assert place(BOM_UTF16_LE + "ab".encode("utf-16-le"), "a") == 4
    assert place(b"\xe9b", "é") == 1


def test_binary() -> None:
    assert binary(b"a\0b")
    assert not binary(BOM_UTF16_LE + b"a\0")
    assert not binary(b"ab")


def test_count() -> None:
    assert count(b"a\nb\n", b"\n") == 2
    assert count(b"ab", b"\n") == 0
