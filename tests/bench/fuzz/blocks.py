"""W&B's file of records in LevelDB's blocks, written and taken apart apart from our reader."""

import struct
import zlib
from collections.abc import Iterator

HEADER = b":W&B\xe1\xbe\x00"
BLOCK, HEAD = 32768, struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def file(records: list[bytes]) -> bytes:
    """The whole file."""
    out = bytearray(HEADER)
    for record in records:
        for kind, part in _fragments(record, len(out)):
            if (room := BLOCK - len(out) % BLOCK) < HEAD.size:
                out += bytes(room)
            out += HEAD.pack(zlib.crc32(bytes([kind]) + part), len(part), kind) + part
    return bytes(out)


def _fragments(record: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The record in the parts that fit when the file is `at` bytes long."""
    begun = False
    while True:
        room = BLOCK - at % BLOCK
        room = room if room >= HEAD.size else BLOCK
        part, record = record[: room - HEAD.size], record[room - HEAD.size :]
        yield ((MIDDLE if begun else FIRST) if record else LAST if begun else FULL), part
        if not record:
            return
        begun, at = True, 0


def fragments(data: bytes, at: int) -> list[bytes]:
    """The framed fragments that stand in undamaged `data`, whose first byte stands at file offset `at`."""
    out, place = [], 0
    while place + HEAD.size <= len(data):
        if (room := BLOCK - (at + place) % BLOCK) < HEAD.size:
            place += room
        end = place + HEAD.size + HEAD.unpack_from(data, place)[1]
        out.append(data[place:end])
        place = end
    return out


def taken_apart(data: bytes) -> list[tuple[bytes, bytes]]:
    """(framed bytes, record) of each record of an undamaged file; the bytes hold what stands between its fragments."""
    out, at, begin, record = [], len(HEADER), 0, b""
    for part in fragments(data[at:], at):
        at, kind = data.index(part, at), part[6]
        begin, record = (at, b"") if kind in (FULL, FIRST) else (begin, record)
        record, at = record + part[HEAD.size :], at + len(part)
        if kind in (FULL, LAST):
            out.append((data[begin:at], record))
    return out
