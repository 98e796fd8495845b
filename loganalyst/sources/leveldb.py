"""LevelDB's log format (github.com/google/leveldb, doc/log_format.md) as W&B writes it: 32 KiB blocks of fragments.

A fragment is CRC-32 u32 (zlib's, of the type byte and the data), length u16, type u8 (little-endian) and the data;
fragments first, middle …, last make one record. After damage the next fragment that proves itself is looked for, in
the same block and then in the next.
"""

import re
import zlib
from collections.abc import Iterator
from itertools import islice
from struct import Struct
from typing import BinaryIO, NamedTuple

from loganalyst.sources.gaps import Gap

BLOCK = 32 * 1024
READ = 32 * BLOCK  # bytes read at a time
LARGEST = 64 << 20  # a longer record is not held: memory stays bounded
HEADER = Struct("<IHB")
DAMAGE, FULL, FIRST, MIDDLE, LAST = range(5)
SEEDS = [zlib.crc32(bytes([kind])) for kind in range(LAST + 1)]
TYPE_BYTE = re.compile(rb"[\x01-\x04]")
MOST_TRIES = 4096  # offsets of a damaged block whose checksum is tried


class Record(NamedTuple):
    """An intact record: where its first fragment begins in the file, and its data."""

    offset: int
    data: bytes


def records(file: BinaryIO, at: int) -> Iterator[Record | Gap]:
    """All intact records of an open binary file from offset `at`, and the gaps between them. Raises OSError.

    Blocks are counted from offset 0; `at` is the length of the file's own header.
    """
    good, end = at, 0  # where the last whole record, and the last byte, ends
    parts: list[bytes] | None = None
    begin, held, why = at, 0, ""
    for base, block in _blocks(file):
        end = base + len(block)
        for kind, start, stop in _fragments(block, max(at - base, 0)):
            if kind == DAMAGE:
                parts, why = None, why or _damage(block, start)
                continue
            if kind == FULL and not (why or parts):
                good = base + stop
                yield Record(base + start, block[start + HEADER.size : stop])
                continue
            if kind in (FULL, FIRST):
                why = why or ("a record without its end" if parts else "")
                parts, begin, held = [], base + start, 0
            if parts is None:
                why = why or "a record without its beginning"
                continue
            parts.append(block[start + HEADER.size : stop])
            held += stop - start
            if held > LARGEST:
                parts, why = None, why or f"a record longer than {LARGEST >> 20} MiB"
            elif kind in (FULL, LAST):
                if why:
                    yield Gap(good, begin - good, why)
                yield Record(begin, b"".join(parts))
                parts, why, good = None, "", base + stop
    if why or parts:
        yield Gap(good, end - good, why or "the file ends inside a record")


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(offset, data) of each block; the last may be shorter."""
    base = file.seek(0)
    while data := file.read(READ):
        while len(data) % BLOCK and (more := file.read(BLOCK - len(data) % BLOCK)):
            data += more
        for at in range(0, len(data), BLOCK):
            yield base + at, data[at : at + BLOCK]
        base += len(data)


def _fragments(block: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """(type, start, end) of each intact fragment; DAMAGE once for each stretch that holds none.

    Fewer than 7 bytes at the end of a whole block are its padding.
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


def _next(block: bytes, at: int) -> tuple[int, int, int]:
    """(offset, type, end) of the next intact fragment from `at` on; type DAMAGE where the block has none."""
    places = islice(TYPE_BYTE.finditer(block, at + HEADER.size - 1), MOST_TRIES)
    for place in (match.start() - HEADER.size + 1 for match in places):
        kind, end = _fragment(block, place)
        if kind != DAMAGE:
            return place, kind, end
    return at, DAMAGE, at


def _fragment(block: bytes, at: int) -> tuple[int, int]:
    """(type, end) of the fragment at `at`; type DAMAGE where none proves itself."""
    if at + HEADER.size > len(block):
        return DAMAGE, at
    crc, length, kind = HEADER.unpack_from(block, at)
    end = at + HEADER.size + length
    if not 0 < kind <= LAST or end > len(block) or zlib.crc32(block[at + HEADER.size : end], SEEDS[kind]) != crc:
        return DAMAGE, at
    return kind, end


def _damage(block: bytes, at: int) -> str:
    """What is wrong at the fragment that should begin at `at`."""
    if not any(block[at:]):
        return "zeroed bytes"
    if len(block) < BLOCK and (at + HEADER.size > len(block) or at + HEADER.size + _length(block, at) > len(block)):
        return "the file ends inside a record"
    return "a record fails its checksum"


def _length(block: bytes, at: int) -> int:
    length: int = HEADER.unpack_from(block, at)[1]
    return length
