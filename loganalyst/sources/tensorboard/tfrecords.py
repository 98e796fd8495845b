"""TFRecord framing (https://www.tensorflow.org/tutorials/load_data/tfrecord): length u64, its masked CRC-32C u32, the
payload, its masked CRC-32C u32; little-endian.

Both checksums of every record are proved. After damage the next offset whose 12-byte header proves itself is looked
for, so every intact record before and behind is found.
"""

import os
from collections.abc import Generator
from io import BufferedReader
from struct import Struct
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.files.gaps import Gap
from loganalyst.sources.tensorboard import crc32c
from loganalyst.sources.tensorboard.shortrecords import FRAME, ZEROS, Frames

CHUNK = 2 << 20  # bytes read at a time
FIRST = 256 << 10  # of the first blocks, and of those behind a broken leap: the next leap may begin soon
LARGEST = 16 << 20  # a longer payload is stepped over: no log entry is that big, and memory stays bounded
HEADER = Struct("<QI")
CACHED = 1 << 16  # headers remembered: an event file repeats few lengths
WRONG_PAYLOAD = "a record fails its checksum"
CUT = "the file ends inside a record"
PADDING = 1 << 13  # bytes behind the data in hand: readers look at whole words

Spans = NDArray[np.int64]  # (2, n): where payloads start and end
Mask = NDArray[np.bool_]


class Block(NamedTuple):
    """Records in a row: payloads are data[starts[i]:ends[i]] (int64), their checksums behind them not yet proved.

    `raw` is `data` as numbers, `base` the file offset of data[0]. PADDING bytes at least stand behind the last record.
    The data is only valid until the next block is read.
    """

    data: bytearray
    raw: NDArray[np.uint8]
    base: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def intact(self, which: NDArray[np.int64]) -> Mask:
        """Whether the payloads of these records fit their checksums."""
        ends = self.ends[which]
        stored = self.raw[ends[:, None] + np.arange(4)].view("<u4")[:, 0]
        fits: Mask = crc32c.masked_ranges(self.raw, self.starts[which], ends) == stored
        return fits


class Taker(Protocol):
    """Who uses the records."""

    def take(self, block: Block) -> Mask:
        """Use the intact records of a block, and say which they are."""

    def leap(self, raw: NDArray[np.uint8], at: int, size: int) -> int:
        """Use records of raw[at:size] that stand as expected, without a look at each; returns where the next begins."""

    @property
    def stride(self) -> int:
        """Of so many bytes a leap needs a multiple; 0 where none is expected."""


class _Chain(NamedTuple):
    """Records that follow one another without a break up to `at`; `next` is what stands there."""

    spans: Spans
    at: int
    next: str  # "proved": a header whose payload is not complete; "wrong": no header; "cut": fewer than 12 bytes
    length: int = 0  # of the proved header's payload


def payload_length(header: bytes) -> int | None:
    """The payload's length from a record's first 12 bytes, None where they prove no record."""
    if len(header) < HEADER.size:
        return None
    length, crc = HEADER.unpack_from(header)
    return int(length) if crc32c.masked(header[:8]) == crc else None


def scan(file: BufferedReader, taker: Taker, offset: int = 0) -> Generator[list[Gap], None, int]:
    """Give `taker` all records of an open binary file from `offset` (where one begins) on, in blocks of about CHUNK.

    Yields the gaps found in each; returns from where on to read when the file has grown. Raises OSError.
    """
    scanner = _Scanner(os.fstat(file.fileno()).st_size, offset, taker)
    buffer, held, more = bytearray(2 * CHUNK + PADDING), 0, True
    file.seek(offset)
    while more:
        wanted = max(scanner.chunk, scanner.wanted)
        if len(buffer) < held + wanted + PADDING:
            buffer = buffer[:held] + bytearray(wanted + PADDING)
        read = file.readinto(memoryview(buffer)[held : held + wanted])
        size, more = held + read, read > 0
        at = scanner.scan(buffer, size, final=not more)
        yield scanner.gaps
        held = max(size - at, 0)
        buffer[:held] = buffer[size - held : size]
        scanner.base += at
        if at > size:
            file.seek(scanner.base)
    return scanner.base if scanner.unfinished is None else scanner.unfinished


class _Scanner:
    """Where framing stands: `base` is the file offset of the data in hand; `lost` is where a gap began, and why;
    `unfinished` is where what the end of the file leaves open begins.
    """

    def __init__(self, size: int, base: int, taker: Taker) -> None:
        self.size, self.base, self.taker, self.wanted = size, base, taker, 0
        self.lost: tuple[int, str] | None = None
        self.unfinished: int | None = None
        self.chunk, self.leapt = min(FIRST, CHUNK), False  # bytes to read next; whether a leap reached the block's end
        self.gaps: list[Gap] = []
        self.lengths: dict[bytes, int | None] = {}

    def scan(self, data: bytearray, size: int, *, final: bool) -> int:
        """Take the records of data[:size]; returns from where it is still needed (past its end: skip to there)."""
        raw = np.frombuffer(data, np.uint8)
        self.gaps, self.wanted = [], 0
        at = 0 if self.lost else self.taker.leap(raw, 0, size)
        before, self.leapt = self.leapt, bool(at) and size - at < self.taker.stride
        self.chunk = min(CHUNK if self.leapt else FIRST if before else 2 * self.chunk, CHUNK)
        if self.leapt and self.chunk > self.taker.stride:  # blocks of as many turns each leave nothing over
            self.chunk -= (size - at + self.chunk) % self.taker.stride
        if self.leapt and not final:
            return at
        frames, headers = Frames(raw, at, size), None
        while True:
            if self.lost:
                headers = _headers(raw[:size]) if headers is None else headers
                at = self._resume(headers, at, size)
                if self.lost:
                    break
            chain = self._walk(data, size, frames, at)
            at = self._prove(data, raw, size, chain, final=final)
            if not self.lost:
                at = self._next(chain, at, final and at < size)
            if not self.lost:
                break
        if final and self.lost:
            self.unfinished = self.lost[0] if self.unfinished is None else self.unfinished
            at = size
            self._close(at)
        return at

    def _walk(self, data: bytearray, size: int, frames: Frames, at: int) -> _Chain:
        """Follow the headers from data[at]: short ones by `frames`, others one by one."""
        spans = [np.empty((2, 0), np.int64)]
        next_, length = "cut", 0
        while (begin := at + HEADER.size) <= size:
            if data[at + 1 : at + 8] == ZEROS and (run := frames.run(at)).stop:
                behind = frames.behind[run]
                spans.append(np.stack([frames.places[run] + HEADER.size, behind - 4]))
                at = int(behind[-1])
                continue
            found = self._length(bytes(data[at:begin]))
            if found is None:
                next_ = "wrong"
                break
            end = begin + found
            if end + 4 > size:
                next_, length = "proved", found
                break
            spans.append(np.array([[begin], [end]]))
            at = end + 4
        return _Chain(np.concatenate(spans, axis=1), at, next_, length)

    def _length(self, header: bytes) -> int | None:
        if header not in self.lengths:
            if len(self.lengths) >= CACHED:
                self.lengths.clear()
            self.lengths[header] = payload_length(header)
        return self.lengths[header]

    def _prove(self, data: bytearray, raw: NDArray[np.uint8], size: int, chain: _Chain, *, final: bool) -> int:
        """Let the intact records of the chain be taken; returns where to go on.

        Behind a damaged payload a proved header shows that the length was right. Without one it may have been the
        length: what follows is then looked for from within the record.
        """
        spans, at = chain.spans, chain.at
        if not spans.shape[1]:
            return at
        intact = self.taker.take(Block(data, raw, self.base, *spans))
        last = self.base + int(spans[0, -1]) - HEADER.size
        if intact.any():
            self.unfinished = None
        doubtful = not intact[-1] and chain.next != "proved"
        if doubtful and final and chain.next == "cut":
            self.unfinished = last
        if doubtful and not (final and chain.at == size):
            at = last - self.base
            if chain.next == "wrong" or final:
                self.lost = last, WRONG_PAYLOAD
                at += 1
            spans, intact = spans[:, :-1], intact[:-1]
        for start, end in spans[:, ~intact].T.tolist():
            self.gaps.append(Gap(self.base + start - HEADER.size, end - start + FRAME, WRONG_PAYLOAD))
        return at

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
            self.lost = begin, CUT
            at += 1
        return at

    def _resume(self, headers: NDArray[np.int64], at: int, size: int) -> int:
        """The next proved header from `at` on, which ends the gap; without one, as far as is certain."""
        i = int(np.searchsorted(headers, at))
        if i == len(headers):
            return max(at, size - HEADER.size + 1)
        at = int(headers[i])
        if self.lost and self.lost[1] == CUT:  # it does not: another record follows
            self.lost = self.lost[0], WRONG_PAYLOAD
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
