"""TFRecord framing (https://www.tensorflow.org/tutorials/load_data/tfrecord): length u64, its masked CRC-32C u32, the
payload, its masked CRC-32C u32; little-endian.

Both checksums of every record are proved. After damage the next offset whose 12-byte header proves itself is looked
for, so every intact record before and behind is found.
"""

import os
from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources import crc32c
from loganalyst.sources.gaps import Gap

CHUNK = 4 << 20  # bytes read at a time
LARGEST = 64 << 20  # a longer payload is stepped over: no log entry is that big, and memory stays bounded
HEADER = Struct("<QI")
FRAME = HEADER.size + 4
CACHED = 1 << 16  # headers remembered: an event file repeats few lengths


class Block(NamedTuple):
    """A stretch of the file: payloads are data[starts[i]:ends[i]] (int64), both checksums proved; `base` is the file
    offset of data[0].
    """

    data: bytes
    base: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    gaps: list[Gap]


class _Chain(NamedTuple):
    """Records that follow one another without a break up to `at`; `next` is what stands there."""

    starts: list[int]
    ends: list[int]
    at: int
    next: str  # "proved": a header whose payload is not complete; "wrong": no header; "cut": fewer than 12 bytes
    length: int = 0  # of the proved header's payload


def payload_length(header: bytes) -> int | None:
    """The payload's length from a record's first 12 bytes, None where they prove no record."""
    if len(header) < HEADER.size:
        return None
    length, crc = HEADER.unpack_from(header)
    return int(length) if crc32c.masked(header[:8]) == crc else None


def blocks(file: BinaryIO) -> Iterator[Block]:
    """All intact records of an open binary file, in blocks of about CHUNK bytes. Raises OSError."""
    scanner, data, more = _Scanner(os.fstat(file.fileno()).st_size), b"", b"?"
    while more:
        more = file.read(max(CHUNK, scanner.wanted))
        block, at = scanner.scan(data + more, final=not more)
        data = block.data[at:]
        scanner.base += at
        if at > len(block.data):
            file.seek(scanner.base)
        yield block


class _Scanner:
    """Where framing stands: `base` is the file offset of the data in hand; `lost` is where a gap began, and why."""

    def __init__(self, size: int) -> None:
        self.size, self.base, self.wanted = size, 0, 0
        self.lost: tuple[int, str] | None = None
        self.gaps: list[Gap] = []
        self.lengths: dict[bytes, int | None] = {}

    def scan(self, data: bytes, *, final: bool) -> tuple[Block, int]:
        """The intact records of `data`, and from where it is still needed (past its end: skip to there)."""
        raw, found, at, self.gaps, self.wanted = np.frombuffer(data, np.uint8), [], 0, [], 0
        headers = None
        while True:
            if self.lost:
                headers = _headers(raw) if headers is None else headers
                at = self._resume(headers, at, len(raw))
                if self.lost:
                    break
            chain = self._walk(data, at)
            spans, at = self._prove(raw, chain, final)
            found.append(spans)
            if not self.lost:
                at = self._next(chain, at, final and at < len(raw))
            if not self.lost:
                break
        if final and self.lost:
            at = len(raw)
            self._close(at)
        starts, ends = np.hstack(found) if found else np.empty((2, 0), np.int64)
        return Block(data, self.base, starts, ends, self.gaps), at

    def _walk(self, data: bytes, at: int) -> _Chain:
        """Follow the headers from data[at]."""
        size, lengths = len(data), self.lengths
        starts: list[int] = []
        ends: list[int] = []
        while (begin := at + HEADER.size) <= size:
            header = data[at:begin]
            if header not in lengths:
                if len(lengths) >= CACHED:
                    lengths.clear()
                lengths[header] = payload_length(header)
            length = lengths[header]
            if length is None:
                return _Chain(starts, ends, at, "wrong")
            end = begin + length
            if end + 4 > size:
                return _Chain(starts, ends, at, "proved", length)
            starts.append(begin)
            ends.append(end)
            at = end + 4
        return _Chain(starts, ends, at, "cut")

    def _prove(self, raw: NDArray[np.uint8], chain: _Chain, final: bool) -> tuple[NDArray[np.int64], int]:
        """The chain's records whose payload is intact (2, n), and where to go on.

        Behind a damaged payload a proved header shows that the length was right. Without one it may have been the
        length: what follows is then looked for from within the record.
        """
        spans = np.array([chain.starts, chain.ends], np.int64)
        stored = raw[spans[1][:, None] + np.arange(4)].view("<u4")[:, 0]
        intact = crc32c.masked_ranges(raw, *spans) == stored
        at, end_of_file = chain.at, final and chain.at == len(raw)
        if len(intact) and not intact[-1] and chain.next != "proved" and not end_of_file:
            at = chain.starts[-1] - HEADER.size
            if chain.next == "wrong" or final:
                self.lost = self.base + at, "a record fails its checksum"
                at += 1
            spans, intact = spans[:, :-1], intact[:-1]
        for start, end in spans[:, ~intact].T.tolist():
            self.gaps.append(Gap(self.base + start - HEADER.size, end - start + FRAME, "a record fails its checksum"))
        return spans[:, intact], at

    def _next(self, chain: _Chain, at: int, cut: bool) -> int:
        """What stands behind the chain: more to come, damage, the end of the file, or a record too long to hold."""
        begin, self.wanted = self.base + at, chain.length + FRAME
        if chain.next == "wrong" and at == chain.at:
            self.lost = begin, "a record's length fails its checksum"
            return at + 1
        if chain.length > LARGEST and begin + self.wanted <= self.size:
            self.gaps.append(Gap(begin, self.wanted, f"a record longer than {LARGEST >> 20} MiB"))
            at, self.wanted = at + self.wanted, 0
        elif cut or chain.length > LARGEST:
            self.lost = begin, "the file ends inside a record"
            at += 1
        return at

    def _resume(self, headers: NDArray[np.int64], at: int, size: int) -> int:
        """The next proved header from `at` on, which ends the gap; without one, as far as is certain."""
        i = int(np.searchsorted(headers, at))
        if i == len(headers):
            return max(at, size - HEADER.size + 1)
        at = int(headers[i])
        self._close(at)
        return at

    def _close(self, at: int) -> None:
        if self.lost:
            offset, why = self.lost
            self.gaps.append(Gap(offset, self.base + at - offset, why))
            self.lost = None


def _headers(raw: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Every offset whose 12 bytes prove a header (lengths below 4 GiB)."""
    if len(raw) < HEADER.size:
        return np.empty(0, np.int64)
    zero = raw == 0
    four = zero[:-3] & zero[1:-2] & zero[2:-1] & zero[3:]  # bytes i to i+3 are zero
    blank = four[:-8] & four[8:]  # twelve zeros prove nothing, and a lost block is full of them
    at = np.flatnonzero(four[4:-4] & ~blank)
    stored = raw[at[:, None] + np.arange(8, 12)].view("<u4")[:, 0]
    headers: NDArray[np.int64] = at[crc32c.masked_ranges(raw, at, at + 8) == stored]
    return headers
