"""TFRecord framing (https://www.tensorflow.org/tutorials/load_data/tfrecord): length u64, its masked CRC-32C u32, the
payload, its masked CRC-32C u32; little-endian.

Both checksums of every record are verified. After damage, reading continues at the next 12-byte header with a right
checksum, so that every intact record is found.
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
FIRST = 256 << 10  # bytes of the first blocks, and of blocks behind a failed leap: the next leap may begin soon
MAX_RECORD = 16 << 20  # bytes; a longer payload is skipped, which bounds memory; no log entry is that big
HEADER = Struct("<QI")
MAX_CACHED = 1 << 16  # headers; an event file repeats few lengths
WRONG_PAYLOAD = "a record fails its checksum"
CUT = "the file ends inside a record"
PADDING = 1 << 13  # bytes behind the current data, because readers look at whole words

Spans = NDArray[np.int64]  # (2, n): begins and ends of payloads
Mask = NDArray[np.bool_]


class Block(NamedTuple):
    """Contiguous records: payloads are data[starts[i]:ends[i]] (int64); the checksums behind them are not verified yet.

    `raw` is `data` as numbers, `base` the file offset of data[0]. At least PADDING bytes follow the last record. The
    data are only valid until the next block is read.
    """

    data: bytearray
    raw: NDArray[np.uint8]
    base: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def intact(self, which: NDArray[np.int64]) -> Mask:
        """Whether the payloads of some records match their checksums."""
        ends = self.ends[which]
        stored = self.raw[ends[:, None] + np.arange(4)].view("<u4")[:, 0]
        fits: Mask = crc32c.masked_ranges(self.raw, self.starts[which], ends) == stored
        return fits


class Taker(Protocol):
    """The consumer of the records."""

    def take(self, block: Block) -> Mask:
        """Use the intact records of a block. Returns which they are."""

    def leap(self, raw: NDArray[np.uint8], at: int, size: int) -> int:
        """Use the records in raw[at:size] that match a prediction, all at once. Returns where the next one begins."""

    @property
    def stride(self) -> int:
        """A leap takes a multiple of this many bytes; 0 if no leap is expected."""


class _Chain(NamedTuple):
    """Records without a break up to `at`; `next` describes the bytes there."""

    spans: Spans
    at: int
    next: str  # "verified": a header whose payload is incomplete; "wrong": not a header; "cut": fewer than 12 bytes
    length: int = 0  # of the payload of a verified header


def payload_length(header: bytes) -> int | None:
    """The length of the payload, from a record's first 12 bytes; None if their checksum is wrong."""
    if len(header) < HEADER.size:
        return None
    length, crc = HEADER.unpack_from(header)
    return int(length) if crc32c.masked(header[:8]) == crc else None


def scan(
    file: BufferedReader, taker: Taker, offset: int = 0, *, chunk: int = CHUNK, max_record: int = MAX_RECORD
) -> Generator[list[Gap], None, int]:
    """Pass to `taker` all records of an open binary file, in blocks of about `chunk` bytes.

    A record must begin at `offset`. Yields the gaps of each block, and returns the offset from which to resume when the
    file has grown. Raises OSError.
    """
    scanner = _Scanner(os.fstat(file.fileno()).st_size, offset, taker, chunk, max_record)
    buffer, held, more = bytearray(2 * chunk + PADDING), 0, True
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
    """The state of framing.

    `base`: the file offset of the current data. `lost`: where a gap began, and why. `unfinished`: the offset of an
    incomplete record at the end of the file.
    """

    def __init__(self, size: int, base: int, taker: Taker, max_chunk: int, max_record: int) -> None:
        self.size, self.base, self.taker, self.wanted = size, base, taker, 0
        self.max_chunk, self.max_record = max_chunk, max_record
        self.lost: tuple[int, str] | None = None
        self.unfinished: int | None = None
        self.chunk, self.leapt = (
            min(FIRST, max_chunk),
            False,
        )  # bytes to read next; whether a leap reached the block's end
        self.gaps: list[Gap] = []
        self.lengths: dict[bytes, int | None] = {}

    def scan(self, data: bytearray, size: int, *, final: bool) -> int:
        """Take the records in data[:size]. Returns the offset from which data are needed; it may be past the end."""
        raw = np.frombuffer(data, np.uint8)
        self.gaps, self.wanted = [], 0
        at = 0 if self.lost else self.taker.leap(raw, 0, size)
        before, self.leapt = self.leapt, bool(at) and size - at < self.taker.stride
        self.chunk = min(self.max_chunk if self.leapt else FIRST if before else 2 * self.chunk, self.max_chunk)
        if self.leapt and self.chunk > self.taker.stride:  # blocks of whole turns leave no remainder
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
            at = self._verify(data, raw, size, chain, final=final)
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
        """Follow the headers from data[at]: short records by `frames`, others one by one."""
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
                next_, length = "verified", found
                break
            spans.append(np.array([[begin], [end]]))
            at = end + 4
        return _Chain(np.concatenate(spans, axis=1), at, next_, length)

    def _length(self, header: bytes) -> int | None:
        if header not in self.lengths:
            if len(self.lengths) >= MAX_CACHED:
                self.lengths.clear()
            self.lengths[header] = payload_length(header)
        return self.lengths[header]

    def _verify(self, data: bytearray, raw: NDArray[np.uint8], size: int, chain: _Chain, *, final: bool) -> int:
        """Pass the intact records of the chain on. Returns where to continue.

        A verified header behind a damaged payload shows that the length was right. Without one, the length itself may
        be damaged, and the search for the next record begins inside this one.
        """
        spans, at = chain.spans, chain.at
        if not spans.shape[1]:
            return at
        intact = self.taker.take(Block(data, raw, self.base, *spans))
        last = self.base + int(spans[0, -1]) - HEADER.size
        if intact.any():
            self.unfinished = None
        doubtful = not intact[-1] and chain.next != "verified"
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
        """Handle the bytes behind the chain: an incomplete record, damage, the file's end, or a record too long."""
        begin, self.wanted = self.base + at, chain.length + FRAME
        if chain.next == "wrong" and at == chain.at:
            self.lost = begin, "a record's length fails its checksum"
            return at + 1
        if chain.length > self.max_record and begin + self.wanted <= self.size:
            self.gaps.append(Gap(begin, self.wanted, f"a record longer than {self.max_record >> 20} MiB"))
            at, self.wanted = at + self.wanted, 0
        elif cut or chain.length > self.max_record:
            self.lost = begin, CUT
            at += 1
        return at

    def _resume(self, headers: NDArray[np.int64], at: int, size: int) -> int:
        """The next verified header from `at` on, which ends the gap; if there is none, the end of the search."""
        i = int(np.searchsorted(headers, at))
        if i == len(headers):
            return max(at, size - HEADER.size + 1)
        at = int(headers[i])
        if self.lost and self.lost[1] == CUT:  # not cut off: another record follows
            self.lost = self.lost[0], WRONG_PAYLOAD
        self._close(at)
        return at

    def _close(self, at: int) -> None:
        if self.lost:
            offset, why = self.lost
            self.gaps.append(Gap(offset, self.base + at - offset, why))
            self.lost = None


def _headers(raw: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Every offset of a header with a right checksum (for lengths below 4 GiB)."""
    if len(raw) < HEADER.size:
        return np.empty(0, np.int64)
    zero = raw == 0
    four = zero[:-3] & zero[1:-2] & zero[2:-1] & zero[3:]  # bytes i to i+3 are zero
    blank = four[:-8] & four[8:]  # twelve zeros are not a header, and a lost disk block is full of them
    at = np.flatnonzero(four[4:-4] & ~blank)
    stored = raw[at[:, None] + np.arange(8, 12)].view("<u4")[:, 0]
    headers: NDArray[np.int64] = at[crc32c.masked_ranges(raw, at, at + 8) == stored]
    return headers
