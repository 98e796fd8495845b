"""Colour numbers as a PNG inside the page."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

# From dark to light, so that the order shows without colour. Non-finite values have their own colour, empty cells none
ANCHOR_COLOURS = ((13, 22, 68), (46, 58, 138), (38, 120, 158), (70, 176, 140), (176, 212, 92), (252, 236, 130))
SHADES = 254
BROKEN, EMPTY = SHADES, SHADES + 1
BROKEN_COLOUR = (213, 94, 0)


def png(pixels: NDArray[np.uint8]) -> str:
    """A data URL of a picture of colour numbers (rows, columns)."""
    height, width = pixels.shape
    raw = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()  # filter 0 before each row
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    clear = bytes([255] * EMPTY + [0])
    chunks = (
        (b"IHDR", head),
        (b"PLTE", _palette()),
        (b"tRNS", clear),
        (b"IDAT", zlib.compress(raw, 9)),
        (b"IEND", b""),
    )
    body = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _palette() -> bytes:
    at = np.linspace(0, len(ANCHOR_COLOURS) - 1, SHADES)
    channels = [np.interp(at, range(len(ANCHOR_COLOURS)), [a[i] for a in ANCHOR_COLOURS]) for i in range(3)]
    shades = np.rint(np.stack(channels, axis=1)).astype(np.uint8).tobytes()
    return shades + bytes(BROKEN_COLOUR) + bytes(3)
