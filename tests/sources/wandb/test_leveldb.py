"""LevelDB's log format."""

import struct
import zlib
from io import BytesIO

import pytest

from loganalyst.sources.wandb import leveldb
from loganalyst.sources.wandb.repair import BLOCK, CUT, FIRST, FULL, LAST, WRONG

HEADER = bytes(7)


def fragment(kind: int, data: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(data, zlib.crc32(bytes([kind]))), len(data), kind) + data


def records(content: bytes, **limits: int) -> tuple[list[bytes], list[tuple], leveldb.Batch]:
    batches = list(leveldb.batches(BytesIO(content), len(HEADER), **limits))
    found = [
        batch.data[a:b] for batch in batches for a, b in zip(batch.starts.tolist(), batch.ends.tolist(), strict=True)
    ]
    return found, [tuple(gap) for batch in batches for gap in batch.gaps], batches[-1]


def test_records():
    """Whole records, and a record in two fragments across blocks."""
    head = HEADER + fragment(FULL, b"abc")
    long = b"x" * (BLOCK - len(head) - 7)
    content = head + fragment(FIRST, long) + fragment(LAST, b"y") + fragment(FULL, b"z")
    found, gaps, last = records(content, window=BLOCK)

    assert found == [b"abc", long + b"y", b"z"]
    assert (gaps, last.behind, last.unfinished) == ([], len(content), None)


@pytest.mark.parametrize("window", [BLOCK, 2 * BLOCK])
def test_a_damaged_record(window):
    """It is a gap between its neighbours."""
    middle = fragment(FULL, b"bad")
    content = HEADER + fragment(FULL, b"abc") + middle[:-1] + b"x" + fragment(FULL, b"z")
    found, gaps, _ = records(content, window=window)

    assert found == [b"abc", b"z"]
    assert gaps == [(17, 10, WRONG)]


def test_a_cut_file():
    """The unfinished record is reported separately, since it may grow."""
    content = HEADER + fragment(FULL, b"abc") + fragment(FULL, b"long record")[:-3]
    found, gaps, last = records(content)

    assert (found, gaps, last.behind) == ([b"abc"], [], 17)
    assert last.unfinished is not None
    assert tuple(last.unfinished) == (17, 15, CUT)
