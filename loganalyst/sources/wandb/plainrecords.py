"""Plain W&B records side by side: one array operation a field for all records of a batch.

A record is plain where its message holds nothing but items, each a key with JSON behind it, as every wandb writes its
history, system metrics and summary. The others are left to `proto`, one by one, which tells what is wrong there.

The tag of an item's JSON marks the items: from mark to mark, each begins where the one before ends. What this finds is
right exactly where the lengths told by the items close the chain from the message's beginning to its end.
"""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.files.protobuf import BYTES
from loganalyst.sources.wandb.leveldb import PAD, Batch
from loganalyst.sources.wandb.proto import VALUE_JSON_TAG

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]

LONGEST_KEY, LONGEST_VALUE = 256, 4096  # bytes; longer ones are not plain
FAR = 1 << 40  # in place of a longer length than four bytes hold: no message reaches so far
NUMBERED = 1 << 3  # tag of Record.num, which stands first
# by LONGEST_KEY and how many bytes are left of a key: those of its next eight that belong to it
INSIDE = np.array([(1 << 8 * min(max(n, 0), 8)) - 1 for n in range(-LONGEST_KEY, LONGEST_KEY + 1)], np.uint64)
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads keys over the slots (Knuth's multiplicative hashing)
SLOTS = 1 << 16
BARE_POINTS = [int.from_bytes(pair, "little") for pair in (b".e", b".E")]


def _openings() -> Mask:
    """Whether a number may begin so in JSON, by its first two bytes (0: it has one) without a sign."""
    table = np.zeros((256, 256), np.bool_)  # first, second
    table[list(b"123456789")] = True
    table[ord("0"), list(b"\0.eE")] = True
    return table.ravel()


OPENINGS = _openings()


class Items(NamedTuple):
    """Items in file order: the record each is in (position in what was asked), its key and its value's place.

    `keys[code]` is the raw key (see `proto.path`), keys in order of first use.
    """

    record: Ints
    code: Ints
    start: Ints
    end: Ints
    keys: list[bytes]


class Chunk:
    """The records of a batch, with the message in each: its tag (0: not told), start and end."""

    def __init__(self, batch: Batch) -> None:
        self.data = batch.data
        self.bytes = np.frombuffer(self.data, np.uint8)
        self.last = len(self.data) - PAD
        marks = np.flatnonzero(self.bytes == VALUE_JSON_TAG[0])
        self.marks = marks[self.bytes[marks + 1] == VALUE_JSON_TAG[1]]
        at = batch.starts
        _, behind = _varints(self.bytes, at + 1)
        at = np.where((self.bytes[at] == NUMBERED) & (behind < batch.ends), behind, at)
        size, self.start = _varints(self.bytes, at + 1)
        self.end = self.start + size
        self.tag = np.where(self.end <= batch.ends, self.bytes[at], 0)

    def of(self, kind: int) -> Ints:
        """Positions of the records that hold a message of `kind`, a field of Record."""
        return np.flatnonzero(self.tag == (kind << 3 | BYTES))

    def items(self, begin: Ints, end: Ints, item: int, tail: int = 0) -> tuple[Items, Mask]:
        """The items (fields numbered `item`) of the plain ones among some messages; which of those are plain.

        The messages stand from `begin` to `end` each; a field numbered `tail` may stand behind the items.
        """
        first, behind = np.searchsorted(self.marks, begin), np.searchsorted(self.marks, end)
        counts = behind - first
        head = np.cumsum(counts) - counts  # the place of each message's first item
        record = np.repeat(np.arange(len(begin)), counts)
        mark = self.marks[np.arange(len(record)) + (first - head)[record]]
        length, start = self._lengths(mark + len(VALUE_JSON_TAG))
        stop = np.minimum(start + length, self.last)
        at = np.append(0, stop[:-1])[: len(stop)]
        at[head[counts > 0]] = begin[counts > 0]
        size, key = self._lengths(at + 1)
        sound = (self.bytes[at] == (item << 3 | BYTES)) & (key + size == stop) & (length <= LONGEST_VALUE)
        sound &= (key < mark) & (mark - key <= LONGEST_KEY)
        plain = counts > 0
        plain[plain] = self._closed(stop[(head + counts - 1)[plain]], end[plain], tail)
        plain[record[~sound]] = False
        if not plain.all():
            kept = plain[record]
            record, key, mark, start, stop = (part[kept] for part in (record, key, mark, start, stop))
        alike = _first_alike(self.bytes, key, mark)
        new = alike == np.arange(len(alike))
        keys = [self.data[a:b] for a, b in zip(key[new].tolist(), mark[new].tolist(), strict=True)]
        return Items(record, (np.cumsum(new) - 1)[alike], start, stop, keys), plain

    def _closed(self, at: Ints, end: Ints, tail: int) -> Mask:
        """Which messages end where their items do, or behind one short field numbered `tail`."""
        tailed = (self.bytes[at] == (tail << 3 | BYTES)) & (at + 2 + self.bytes[at + 1] == end)
        closed: Mask = (at == end) | (tailed & (tail > 0))
        return closed

    def _lengths(self, at: Ints) -> tuple[Ints, Ints]:
        """The varints of one or two bytes at some offsets, FAR where they are longer; the offsets behind them."""
        value = self.bytes[at].astype(np.int64)
        if not (long := value >= 0x80).any():
            return value, at + 1
        high = self.bytes[at + 1].astype(np.int64)
        value = np.where(long, np.where(high < 0x80, value & 0x7F | high << 7, FAR), value)
        return value, at + 1 + long

    def numbers(self, items: Items) -> tuple[Floats, Ints, list[str]]:
        """The values of items; places and texts of those that are no plain number (NaN in the first).

        A byte of a text that is not ASCII is a NUL in its place: it is no JSON.
        """
        if not len(items.code):
            return np.zeros(0), np.zeros(0, np.int64), []
        length = items.end - items.start
        parsed = _parsed(self.data, items.start, length)
        places = np.flatnonzero(self._odd(items.start, items.end) | parsed.is_null().to_numpy())
        values = parsed.fill_null(math.nan).to_numpy().copy()
        values[places] = np.nan
        spans = zip(items.start[places].tolist(), items.end[places].tolist(), strict=True)
        texts = [self.data[a:b].decode("ascii", "replace").replace("\ufffd", "\0") for a, b in spans]
        return values, places, texts

    def _odd(self, start: Ints, end: Ints) -> Mask:
        """Which texts are not written as JSON writes numbers, though they may stand for one."""
        negative = self.bytes[start] == ord("-")
        first = start + negative
        second = self.bytes[first + 1] & -(first + 1 < end).view(np.uint8)  # 0 behind the end
        pair = self.bytes[first].astype(np.uint16) << 8 | second
        odd: Mask = ~OPENINGS[pair] | (negative & (pair == ord("0") << 8))  # -0 is an integer, which has no sign there
        odd |= self.bytes[end - 1] == ord(".")
        at = _bare_points(self.bytes)
        if len(at):
            item = np.searchsorted(start, at, side="right") - 1
            odd[item[(item >= 0) & (at < end[item])]] = True
        return odd


def _parsed(data: bytes, start: Ints, length: Ints) -> pl.Series:
    """What polars takes for numbers among some texts, NULL for the others."""
    places = pl.lit(pl.Series(start)), pl.lit(pl.Series(length))
    whole = pl.lit(pl.Series([data])).first()  # as a literal it would be copied for each text
    texts = pl.select(whole.bin.slice(*places)).to_series()
    try:
        return texts.cast(pl.String).cast(pl.Float64, strict=False)
    except pl.exceptions.ComputeError:  # one of them is no UTF-8
        ascii_ = [data[a : a + n].isascii() for a, n in zip(start.tolist(), length.tolist(), strict=True)]
        return _parsed(data, start, np.where(ascii_, length, 0))


def _bare_points(data: NDArray[np.uint8]) -> Ints:
    """Where a point has an exponent right behind it, which is no JSON."""
    even = len(data) // 2 * 2
    pairs = data[:even].view("<u2"), data[1 : even - 1].view("<u2")
    if not any((each == pair).any() for each in pairs for pair in BARE_POINTS):
        return np.empty(0, np.int64)
    at: Ints = np.flatnonzero(data == ord("."))
    followed: Mask = (data[at + 1] | 0x20) == ord("e")
    return at[followed]


def _varints(data: NDArray[np.uint8], at: Ints) -> tuple[Ints, Ints]:
    """The varints at some offsets, FAR where they are longer than four bytes; the offsets behind them."""
    value, more = np.zeros(len(at), np.int64), np.ones(len(at), np.bool_)
    for shift in (0, 7, 14, 21):
        byte = data[at].astype(np.int64)
        value |= np.where(more, (byte & 0x7F) << shift, 0)
        at = at + more
        more &= byte >= 0x80
        if not more.any():
            return value, at
    return np.where(more, FAR, value), at


def _first_alike(data: NDArray[np.uint8], start: Ints, end: Ints) -> Ints:
    """For each stretch of at most LONGEST_KEY bytes the position of the first one equal to it."""
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes at every offset
    length = end - start
    eights = range(0, int(length.max(initial=0)), 8)
    columns = [length.astype(np.uint64), *(words[start + at] & INSIDE[length + (LONGEST_KEY - at)] for at in eights)]
    mixed = np.zeros(len(start), np.uint64)
    for column in columns:
        mixed = (mixed ^ column) * MIX
    table, found, left = np.empty(SLOTS, np.int64), np.arange(len(start)), np.arange(len(start))
    while len(left):  # each slot's first key is told, the others wait for the next round
        slot = (mixed >> np.uint64(48)).astype(np.int64)
        table[slot[::-1]] = np.arange(len(slot))[::-1]
        first = table[slot]
        found[left] = left[first]
        other = np.zeros(len(left), np.bool_)
        for column in columns:
            other |= column[first] != column
        left, mixed, columns = left[other], mixed[other] * MIX, [column[other] for column in columns]
    return found
