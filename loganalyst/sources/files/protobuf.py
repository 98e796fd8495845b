"""The part of the protobuf wire format that logs use (https://protobuf.dev/programming-guides/encoding/).

Readers walk messages field by field. So nothing is compiled, no schema version matters, and unknown fields are skipped.
"""

from collections.abc import Iterator
from struct import unpack_from

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(buffer: bytes | memoryview, at: int) -> tuple[int, int]:
    """The unsigned varint at offset `at`, and the offset after it.

    Raises ValueError for more than 10 bytes, and IndexError at the end of the buffer.
    """
    value = shift = 0
    while True:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError(f"varint longer than 10 bytes before offset {at}")


def signed(value: int) -> int:
    """The value of an int64 field from its unsigned varint."""
    return value - (1 << 64) if value >> 63 else value


def fields(buffer: bytes | memoryview, at: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """Walk one message: yields (field number, wire type, a, b).

    For VARINT, a is the unsigned value and b the offset after it. For the other types buffer[a:b] is the payload.
    Raises ValueError where the bytes are no message (group wire types, a length beyond `end`).
    """
    end = len(buffer) if end is None else end
    while at < end:
        key, at = varint(buffer, at)
        wire = key & 7
        if wire == VARINT:
            a, b = varint(buffer, at)
            at = b
        elif wire == BYTES:
            length, a = varint(buffer, at)
            at = b = a + length
        elif wire in (FIXED64, FIXED32):
            a, at = at, at + (8 if wire == FIXED64 else 4)
            b = at
        else:
            raise ValueError(f"wire type {wire} at offset {at}")
        if at > end:
            raise ValueError(f"field {key >> 3} ends at {at}, past the message's end {end}")
        yield key >> 3, wire, a, b


def double(buffer: bytes | memoryview, at: int) -> float:
    """The little-endian float64 at `at`."""
    return float(unpack_from("<d", buffer, at)[0])


def single(buffer: bytes | memoryview, at: int) -> float:
    """The little-endian float32 at `at`."""
    return float(unpack_from("<f", buffer, at)[0])
