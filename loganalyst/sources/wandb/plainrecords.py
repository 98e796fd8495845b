"""Plain W&B records decoded in parallel: one array operation per field for all records of a batch.

A record is plain if its message contains only items, each a key followed by JSON. Every wandb version writes history,
system metrics and summary like this. Other records are left to `proto`, which reports what is wrong with them.

Items are found by the tag of their JSON, called a mark here: each item begins where the one before it ends. The result
is accepted only if the lengths in the items form an unbroken chain from the beginning of the message to its end.
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

MAX_KEY, MAX_VALUE = 256, 4096  # bytes; longer keys and values are not plain
OUT_OF_RANGE = 1 << 40  # replaces lengths of more than four bytes; no message is that long
NUMBERED = 1 << 3  # tag of Record.num, which comes first
# masks for the bytes of a word that belong to a key, by MAX_KEY + the number of bytes left of the key
INSIDE = np.array([(1 << 8 * min(max(n, 0), 8)) - 1 for n in range(-MAX_KEY, MAX_KEY + 1)], np.uint64)
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads keys over the slots (Knuth's multiplicative hashing)
SLOTS = 1 << 16
BARE_POINTS = [int.from_bytes(pair, "little") for pair in (b".e", b".E")]


def _openings() -> Mask:
    """Whether a JSON number may begin with two bytes (without its sign; a single digit is followed by 0)."""
    table = np.zeros((256, 256), np.bool_)  # first, second
    table[list(b"123456789")] = True
    table[ord("0"), list(b"\0.eE")] = True
    return table.ravel()


OPENINGS = _openings()


class Items(NamedTuple):
    """Items in file order: the record of each (position among those asked for), its key, and where its value is.

    `keys[code]` is the raw key (see `proto.path`), in order of first use.
    """

    record: Ints
    code: Ints
    start: Ints
    end: Ints
    keys: list[bytes]


class Chunk:
    """The records of a batch, with the tag (0: unknown), start and end of the message in each."""

    def __init__(self, batch: Batch, max_value: int = MAX_VALUE) -> None:
        self.data, self.max_value = batch.data, max_value
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

    def positions(self, kind: int) -> Ints:
        """Positions of the records that hold a message of `kind`, a field of Record."""
        return np.flatnonzero(self.tag == (kind << 3 | BYTES))

    def items(self, begin: Ints, end: Ints, item: int, tail: int = 0) -> tuple[Items, Mask]:
        """The items (fields numbered `item`) of the plain messages, and which of the messages are plain.

        Each message goes from `begin` to `end`. A field numbered `tail` may follow the items.
        """
        first, behind = np.searchsorted(self.marks, begin), np.searchsorted(self.marks, end)
        counts = behind - first
        head = np.cumsum(counts) - counts  # the position of each message's first item
        record = np.repeat(np.arange(len(begin)), counts)
        mark = self.marks[np.arange(len(record)) + (first - head)[record]]
        length, start = self._lengths(mark + len(VALUE_JSON_TAG))
        stop = np.minimum(start + length, self.last)
        at = np.append(0, stop[:-1])[: len(stop)]
        at[head[counts > 0]] = begin[counts > 0]
        size, key = self._lengths(at + 1)
        sound = (self.bytes[at] == (item << 3 | BYTES)) & (key + size == stop) & (length <= self.max_value)
        sound &= (key < mark) & (mark - key <= MAX_KEY)
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
        """Which messages end with their items, or with one short field numbered `tail` behind them."""
        tailed = (self.bytes[at] == (tail << 3 | BYTES)) & (at + 2 + self.bytes[at + 1] == end)
        closed: Mask = (at == end) | (tailed & (tail > 0))
        return closed

    def _lengths(self, at: Ints) -> tuple[Ints, Ints]:
        """The varints of one or two bytes at some offsets, OUT_OF_RANGE for longer ones; the offsets behind them."""
        value = self.bytes[at].astype(np.int64)
        if not (long := value >= 0x80).any():
            return value, at + 1
        high = self.bytes[at + 1].astype(np.int64)
        value = np.where(long, np.where(high < 0x80, value & 0x7F | high << 7, OUT_OF_RANGE), value)
        return value, at + 1 + long

    def numbers(self, items: Items) -> tuple[Floats, Ints, list[str]]:
        """The values of items (NaN where one is not a plain number); positions and texts of those that are not.

        In such a text, NUL replaces each byte that is not ASCII, so that it is not valid JSON.
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
        """Which values are not valid JSON numbers, although polars may accept them, such as `1.` or `+1`."""
        negative = self.bytes[start] == ord("-")
        first = start + negative
        second = self.bytes[first + 1] & -(first + 1 < end).view(np.uint8)  # 0 past the end
        pair = self.bytes[first].astype(np.uint16) << 8 | second
        odd: Mask = ~OPENINGS[pair] | (negative & (pair == ord("0") << 8))  # JSON reads -0 as 0, polars as -0.0
        odd |= self.bytes[end - 1] == ord(".")
        at = _bare_points(self.bytes)
        if len(at):
            item = np.searchsorted(start, at, side="right") - 1
            odd[item[(item >= 0) & (at < end[item])]] = True
        return odd


def _parsed(data: bytes, start: Ints, length: Ints) -> pl.Series:
    """Some texts as numbers, parsed by polars; NULL for the others."""
    places = pl.lit(pl.Series(start)), pl.lit(pl.Series(length))
    whole = pl.lit(pl.Series([data])).first()  # a plain literal would be copied for each text
    texts = pl.select(whole.bin.slice(*places)).to_series()
    try:
        return texts.cast(pl.String).cast(pl.Float64, strict=False)
    except pl.exceptions.ComputeError:  # one of the texts is not UTF-8
        ascii_ = [data[a : a + n].isascii() for a, n in zip(start.tolist(), length.tolist(), strict=True)]
        return _parsed(data, start, np.where(ascii_, length, 0))


def _bare_points(data: NDArray[np.uint8]) -> Ints:
    """Offsets of points directly followed by an exponent (`1.e5`), which is not JSON."""
    even = len(data) // 2 * 2
    pairs = data[:even].view("<u2"), data[1 : even - 1].view("<u2")
    if not any((each == pair).any() for each in pairs for pair in BARE_POINTS):
        return np.empty(0, np.int64)
    at: Ints = np.flatnonzero(data == ord("."))
    followed: Mask = (data[at + 1] | 0x20) == ord("e")
    return at[followed]


def _varints(data: NDArray[np.uint8], at: Ints) -> tuple[Ints, Ints]:
    """The varints at some offsets, OUT_OF_RANGE where they exceed four bytes; the offsets behind them."""
    value, more = np.zeros(len(at), np.int64), np.ones(len(at), np.bool_)
    for shift in (0, 7, 14, 21):
        byte = data[at].astype(np.int64)
        value |= np.where(more, (byte & 0x7F) << shift, 0)
        at = at + more
        more &= byte >= 0x80
        if not more.any():
            return value, at
    return np.where(more, OUT_OF_RANGE, value), at


def _first_alike(data: NDArray[np.uint8], start: Ints, end: Ints) -> Ints:
    """For each key (at most MAX_KEY bytes), the position of the first key equal to it."""
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes at every offset
    length = end - start
    eights = range(0, int(length.max(initial=0)), 8)
    columns = [length.astype(np.uint64), *(words[start + at] & INSIDE[length + (MAX_KEY - at)] for at in eights)]
    mixed = np.zeros(len(start), np.uint64)
    for column in columns:
        mixed = (mixed ^ column) * MIX
    table, found, left = np.empty(SLOTS, np.int64), np.arange(len(start)), np.arange(len(start))
    while len(left):  # each round settles the keys equal to the first one in their slot
        slot = (mixed >> np.uint64(48)).astype(np.int64)
        table[slot[::-1]] = np.arange(len(slot))[::-1]
        first = table[slot]
        found[left] = left[first]
        other = np.zeros(len(left), np.bool_)
        for column in columns:
            other |= column[first] != column
        left, mixed, columns = left[other], mixed[other] * MIX, [column[other] for column in columns]
    return found
