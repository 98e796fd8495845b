"""The short records of a block: their headers are found and verified in parallel."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.tensorboard import crc32c

Ints = NDArray[np.int64]
SHORT = 256  # bytes; the length of a shorter payload has seven zero bytes
ZEROS = bytes(7)
HEADER, FRAME = 12, 16


@cache
def _checksums() -> NDArray[np.uint32]:
    """The checksum of the length of each short record."""
    lengths = np.arange(SHORT, dtype="<u8").view(np.uint8)
    starts = np.arange(0, 8 * SHORT, 8)
    return crc32c.masked_ranges(lengths, starts, starts + 8)


@cache
def headers() -> dict[bytes, int]:
    """The first 12 bytes of each short record, with the length of its payload."""
    return {i.to_bytes(8, "little") + crc.to_bytes(4, "little"): i for i, crc in enumerate(_checksums().tolist())}


def at(raw: NDArray[np.uint8], places: Ints, kind: str, offset: int = 0) -> NDArray[Any]:
    """The items at `offset` from each of `places`, with any alignment. `raw` must extend one item beyond the last."""
    item = np.dtype(kind)
    found: NDArray[Any] = np.ndarray((len(raw) - item.itemsize - offset + 1,), item, raw, offset, (1,))[places]
    return found


class Frames:
    """The whole short records in raw[begin:size]: `places` are the offsets of headers, `behind` those of their ends."""

    def __init__(self, raw: NDArray[np.uint8], begin: int, size: int) -> None:
        first = begin // 4 * 4
        words = raw[first : size // 4 * 4].view("<u4")
        zero = np.flatnonzero(words[1:] == 0)  # seven zero bytes contain an aligned word of zeros
        before = words[zero]  # the last nonzero byte of the word before is the length
        places = first + 4 * zero + (before >= 1 << 8) + (before >= 1 << 16) + (before >= 1 << 24)
        length = at(raw, places, "<u8")
        fit = length < SHORT
        places, length = places[fit], length[fit].astype(np.int64)
        proved = at(raw, places, "<u4", 8) == _checksums()[length]
        proved &= (places + length + FRAME <= size) & (places >= begin)
        self.places = places[proved]
        self.behind = self.places + length[proved] + FRAME
        self.last = np.append(np.flatnonzero(self.behind[:-1] != self.places[1:]), len(self.places) - 1)

    def run(self, place: int) -> slice:
        """The contiguous records from `place` on; empty if none begins there."""
        i = int(np.searchsorted(self.places, place))
        if i == len(self.places) or self.places[i] != place:
            return slice(0, 0)
        return slice(i, int(self.last[np.searchsorted(self.last, i)]) + 1)
