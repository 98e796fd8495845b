"""The intact fragments of a damaged LevelDB block, found by their checksums, offset by offset (see `leveldb`)."""

import re
import zlib
from collections.abc import Iterator
from itertools import islice
from struct import Struct

BLOCK = 32 * 1024
HEADER = Struct("<IHB")  # CRC, length, type
DAMAGE, FULL, FIRST, MIDDLE, LAST = range(5)
SEEDS = [zlib.crc32(bytes([kind])) for kind in range(LAST + 1)]
TYPE_BYTE = re.compile(rb"[\x01-\x04]")
CUT, WRONG = "the file ends inside a record", "a record fails its checksum"
MAX_TRIES = 4096  # offsets of a damaged block at which the checksum is tried


def fragments(block: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """(type, start, end) of each intact fragment from `at` on; DAMAGE once for each stretch without fragments.

    Fewer than 7 bytes at the end of a whole block are padding.
    """
    while at + HEADER.size <= len(block) or at < len(block) < BLOCK:
        kind, end = _fragment(block, at)
        if kind == DAMAGE:
            yield DAMAGE, at, at
            at, kind, end = _next(block, at + 1)
            if kind == DAMAGE:
                return
        yield kind, at, end
        at = end


def damage(block: bytes, at: int) -> str:
    """What is wrong with the fragment that should begin at `at`."""
    if block.count(0, at) == len(block) - at:
        return "zeroed bytes"
    if len(block) < BLOCK and (at + HEADER.size > len(block) or at + HEADER.size + _length(block, at) > len(block)):
        return CUT
    return WRONG


def _next(block: bytes, at: int) -> tuple[int, int, int]:
    """(offset, type, end) of the next intact fragment from `at` on; type DAMAGE if the block has none."""
    places = islice(TYPE_BYTE.finditer(block, at + HEADER.size - 1), MAX_TRIES)
    for place in (match.start() - HEADER.size + 1 for match in places):
        kind, end = _fragment(block, place)
        if kind != DAMAGE:
            return place, kind, end
    return at, DAMAGE, at


def _fragment(block: bytes, at: int) -> tuple[int, int]:
    """(type, end) of the fragment at `at`; type DAMAGE if there is none or its checksum is wrong."""
    if at + HEADER.size > len(block):
        return DAMAGE, at
    crc, length, kind = HEADER.unpack_from(block, at)
    end = at + HEADER.size + length
    if not 0 < kind <= LAST or end > len(block) or zlib.crc32(block[at + HEADER.size : end], SEEDS[kind]) != crc:
        return DAMAGE, at
    return kind, end


def _length(block: bytes, at: int) -> int:
    length: int = HEADER.unpack_from(block, at)[1]
    return length
