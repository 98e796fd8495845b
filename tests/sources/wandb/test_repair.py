"""Intact fragments of a damaged block."""

import struct
import zlib

from loganalyst.sources.wandb import repair
from loganalyst.sources.wandb.repair import CUT, DAMAGE, FULL, WRONG


def fragment(data: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(data, zlib.crc32(b"\1")), len(data), FULL) + data


def test_fragments():
    """Found behind damage by their checksums; each damaged stretch is listed once."""
    block = fragment(b"one") + b"rubbish" + fragment(b"two")

    assert list(repair.fragments(block, 0)) == [(FULL, 0, 10), (DAMAGE, 10, 10), (FULL, 17, 27)]
    assert list(repair.fragments(b"rubbish!", 0)) == [(DAMAGE, 0, 0)]


def test_damage():
    """Zeros, a cut file, or a wrong checksum."""
    data = fragment(b"one")

    assert repair.damage(bytes(20), 3) == "zeroed bytes"
    assert repair.damage(data[:-1], 0) == CUT
    assert repair.damage(data[:-1] + b"x", 0) == WRONG
