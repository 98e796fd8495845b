"""Colour numbers as a PNG."""

import base64
import struct
import zlib

import numpy as np

from loganalyst.report.diagnosis.html.png import ANCHOR_COLOURS, BROKEN, BROKEN_COLOUR, EMPTY, png


def test_a_png_holds_its_pixels_and_colours():
    """Pixels, checksums and palette are right, and only empty cells are transparent."""
    pixels = np.array([[0, 253], [BROKEN, EMPTY]], np.uint8)
    raw = base64.b64decode(png(pixels).removeprefix("data:image/png;base64,"))
    chunks, at = {}, 8
    while at < len(raw):
        (size,) = struct.unpack_from(">I", raw, at)
        kind, body = raw[at + 4 : at + 8], raw[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", raw, at + 8 + size)[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + size

    assert zlib.decompress(chunks[b"IDAT"]) == b"\x00\x00\xfd\x00" + bytes([BROKEN, EMPTY])
    palette = [tuple(chunks[b"PLTE"][i : i + 3]) for i in range(0, 768, 3)]
    assert (palette[0], palette[253], palette[BROKEN]) == (ANCHOR_COLOURS[0], ANCHOR_COLOURS[-1], BROKEN_COLOUR)
    assert [i for i, alpha in enumerate(chunks[b"tRNS"]) if alpha == 0] == [EMPTY]
