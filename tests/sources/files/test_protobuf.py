"""The protobuf wire format."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.files.protobuf import BYTES, FIXED32, FIXED64, VARINT, double, fields, signed, single, varint


def encoded(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@given(st.integers(0, (1 << 64) - 1))
def test_varint_comes_back(value: int) -> None:
    assert varint(b"x" + encoded(value), 1) == (value, 1 + len(encoded(value)))


def test_varint_errors() -> None:
    with pytest.raises(ValueError, match="longer than 10 bytes"):
        varint(b"\xff" * 11, 0)
    with pytest.raises(IndexError):
        varint(b"\x80", 0)


@pytest.mark.parametrize(("value", "expected"), [(5, 5), ((1 << 64) - 1, -1), (1 << 63, -(1 << 63))])
def test_signed(value: int, expected: int) -> None:
    assert signed(value) == expected


def test_fields() -> None:
    message = b"\x08\x96\x01" + b"\x12\x02hi" + b"\x1d" + struct.pack("<f", 0.5) + b"\x21" + struct.pack("<d", 0.25)
    found = list(fields(message))

    assert [(number, wire) for number, wire, _, _ in found] == [(1, VARINT), (2, BYTES), (3, FIXED32), (4, FIXED64)]
    assert found[0][2] == 150
    assert message[found[1][2] : found[1][3]] == b"hi"
    assert single(message, found[2][2]) == 0.5
    assert double(message, found[3][2]) == 0.25


@pytest.mark.parametrize(("data", "why"), [(b"\x0b", "wire type 3"), (b"\x12\x05hi", "past the message's end")])
def test_bytes_that_are_no_message(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        list(fields(data))
