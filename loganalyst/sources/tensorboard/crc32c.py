"""CRC-32C (Castagnoli; RFC 3720, appendix B.4) of many byte ranges at once, and TensorFlow's masked form of it.

Each step takes two bytes through a table of 65,536 entries. All ranges of a call advance together, so that they share
the cost of a step. Long ranges are cut into lanes, whose checksums are joined by linearity over GF(2).
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Checksums = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

REVERSED_POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8
LANE = 512  # bytes; must be even
MAX_IN_ROW = 1 << 16  # bytes
MAX_BYTE_BY_BYTE = 1000  # bytes in all ranges up to which a plain loop is faster


@cache
def _by_byte() -> Checksums:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, np.uint32(REVERSED_POLYNOMIAL) ^ (table >> 1), table >> 1)
    return table


@cache
def _by_pair() -> Checksums:
    return _zeros(np.arange(1 << 16, dtype=np.uint32), 2, _by_byte(), 8)


@cache
def _by_lane() -> list[list[int]]:
    """For each byte of a state, its contribution after LANE zero bytes."""
    states = np.arange(256, dtype=np.uint32)[None, :] << np.array([[0], [8], [16], [24]], dtype=np.uint32)
    lanes: list[list[int]] = _zeros(states, LANE // 2, _by_pair(), 16).tolist()
    return lanes


def _zeros(states: Checksums, steps: int, table: Checksums, bits: int) -> Checksums:
    for _ in range(steps):
        states = table[states & ((1 << bits) - 1)] ^ (states >> bits)
    return states


@cache
def _by_distance(hundreds: int) -> Checksums:
    """The state after a byte and a number of zero bytes behind it (the distance), at 256 * distance + byte."""
    rows = [_by_byte()]
    while len(rows) < hundreds << 8:
        rows.append(_zeros(rows[-1], 1, _by_byte(), 8))
    return np.concatenate(rows)


@cache
def _initial(hundreds: int) -> Checksums:
    """The state after a number of zero bytes at the start of a string, at that number."""
    states = [np.array([0xFFFFFFFF], np.uint32)]
    while len(states) < hundreds << 8:
        states.append(_zeros(states[-1], 1, _by_byte(), 8))
    return np.concatenate(states)


@cache
def _short_table() -> list[int]:
    table: list[int] = _by_byte().tolist()
    return table


def mask(crc: int) -> int:
    """The stored form: rotated right by 15 bits, plus a constant, so that the CRC of data with CRCs stays strong."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFFFFFF


def masked(data: bytes) -> int:
    """The masked CRC-32C of a short string, byte by byte."""
    return mask(_state(data) ^ 0xFFFFFFFF)


def _state(data: bytes) -> int:
    table, state = _short_table(), 0xFFFFFFFF
    for byte in data:
        state = table[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state


def masked_ranges(data: Bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Checksums:
    """The masked CRC-32C of each data[start:end] (uint32, one per range; empty ranges allowed)."""
    return masked_states(states(data, starts, ends))


@cache
def _backwards() -> NDArray[np.int64]:
    """-256, -512, …: the offsets into a table by distance, counted back from the end of the data."""
    return np.arange(1, MAX_IN_ROW + 1) * -256


def masked_in_row(data: Bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Checksums:
    """As `masked_ranges`, with all bytes at once, for sorted ranges of less than 500 bytes with small spaces between.

    The last range must end within MAX_IN_ROW bytes.
    """
    size = int(ends[-1])
    counts = ends.copy()
    counts[1:] -= ends[:-1]
    places = np.repeat(ends << 8, counts)
    places += _backwards()[:size]
    places += data[:size]
    bounds = np.empty(2 * len(ends), np.int64)
    bounds[::2], bounds[1::2] = starts, ends
    found = np.bitwise_xor.reduceat(_by_distance(2).take(places), bounds[:-1])[::2]
    return masked_states(found ^ _initial(2).take(ends - starts))


def states(data: Bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Checksums:
    """The state after each data[start:end], before the final XOR (uint32, one per range; empty ranges allowed)."""
    if int((ends - starts).sum()) <= MAX_BYTE_BY_BYTE:
        return np.array(
            [_state(data[a:b].tobytes()) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)], np.uint32
        )
    first = int(starts.min())
    data, starts, ends = data[first : int(ends.max())], starts - first, ends - first
    length = ends - starts
    lanes = np.maximum(length - 1, 0) // LANE  # full lanes, behind a head of at most LANE bytes
    found = _advance(data, starts, ends - lanes * LANE, 0xFFFFFFFF)
    if lanes.any():
        last = np.cumsum(lanes)
        cut = np.repeat(ends - last * LANE, lanes) + np.arange(1, last[-1] + 1) * LANE
        joined = _advance(data, cut - LANE, cut, 0).tolist()
        for i in np.flatnonzero(lanes):
            found[i] = _join(int(found[i]), joined[last[i] - lanes[i] : last[i]])
    return found


def added(byte: Bytes | int, behind: NDArray[np.int64]) -> Checksums:
    """The contribution of each byte (or of one byte in all strings) to the state, given the bytes behind it."""
    places: NDArray[np.int64] = (behind << 8) + byte
    return _by_distance((int(behind.max(initial=0)) >> 8) + 1).take(places)


def add(states: Checksums, words: NDArray[Any], size: int, behind: NDArray[np.int64]) -> None:
    """Add `size` bytes, zero until now, to n strings with m states each (n, m).

    The bytes are the first ones of `words` (n, m, unsigned). In string i, behind[i] bytes follow the first of them.
    Bytes beyond the end of a string are zero.
    """
    table = _by_distance((int(behind.max(initial=0)) >> 8) + 1)
    varying = int(np.bitwise_or.reduce(words ^ words[0, 0], axis=None))
    bytes_, same = words.view(np.uint8), np.zeros((len(words), 1), np.uint32)
    for i in range(size):
        place = (np.maximum(behind - i, 0) << 8)[:, None]
        if varying >> 8 * i & 0xFF:
            states ^= table.take(place + bytes_[:, i :: words.itemsize])
        else:
            same ^= table.take(place + bytes_[0, i])
    states ^= same


class States:
    """The states of strings of given lengths. Bytes are added in any order; all others are zero."""

    def __init__(self, lengths: NDArray[np.int64]) -> None:
        self.lengths = lengths
        self.longest = int(lengths.max(initial=0))
        hundreds = (self.longest >> 8) + 1
        self.table = _by_distance(hundreds)
        self.by_length = _initial(hundreds)[: self.longest + 1].copy()  # the states of bytes equal in all strings
        self.behind = (lengths - 1) << 8
        self.states = np.zeros(len(lengths), np.uint32)

    def add(self, columns: Bytes, offset: int | NDArray[np.int64], where: NDArray[np.bool_] | None = None) -> None:
        """Add the bytes (n, k) of each string from `offset` on, only to the strings in `where` if it is given."""
        if where is not None and not where.any():
            return
        last = columns.shape[1] - 1
        place = self.behind - ((offset + last) << 8)
        for i, column in enumerate(columns.T):
            table = self.table[(last - i) << 8 :]
            if where is not None and not where.all():
                self.states[where] ^= table.take(place[where] + column[where])
            elif isinstance(offset, int) and (column == column[:1]).all():
                start = offset + i
                self.by_length[start + 1 :] ^= self.table[int(column[0]) :: 256][: self.longest - start]
            else:
                self.states ^= table.take(place + column)

    def masked(self, more: Checksums) -> Checksums:
        """The masked CRC-32C of the strings, after adding `more` to their states."""
        return masked_states(self.states ^ self.by_length.take(self.lengths) ^ more)


def masked_states(states: Checksums) -> Checksums:
    """The masked CRC-32C of final states."""
    crc = states ^ np.uint32(0xFFFFFFFF)
    return (((crc >> 15) | (crc << 17)) + np.uint32(MASK_DELTA)).astype(np.uint32)


def _advance(data: Bytes, starts: NDArray[np.int64], ends: NDArray[np.int64], initial: int) -> Checksums:
    """The state after each range, from `initial`. Ranges are sorted by length, so those not finished form a slice."""
    order = np.argsort(ends - starts, kind="stable")
    start, end = starts[order], ends[order]
    length = end - start
    state = np.full(len(order), initial, np.uint32)
    odd = np.flatnonzero(length & 1)
    state[odd] = _by_byte()[(state[odd] ^ data[start[odd]]) & 0xFF] ^ (state[odd] >> 8)
    even = length & ~1
    low, high, table = data, data[1:], _by_pair()
    for left in range(int(even[-1]), 0, -2):
        running = slice(int(np.searchsorted(even, left)), None)
        at, now = end[running] - left, state[running]
        pair = low[at] | (high[at].astype(np.uint16) << 8)
        state[running] = table[(now ^ pair) & 0xFFFF] ^ (now >> 16)
    out = np.empty_like(state)
    out[order] = state
    return out


def _join(state: int, lanes: list[int]) -> int:
    a, b, c, d = _by_lane()
    for crc in lanes:
        state = a[state & 0xFF] ^ b[(state >> 8) & 0xFF] ^ c[(state >> 16) & 0xFF] ^ d[state >> 24] ^ crc
    return state
