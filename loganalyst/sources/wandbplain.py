"""Plain W&B records side by side: one array operation a field for all records of a chunk.

A record is plain where its message holds nothing but items, each a key with JSON behind it, as every wandb writes its
history, system metrics and summary. The others are left to `wandbproto`, one by one, which tells what is wrong there.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.protobuf import BYTES
from loganalyst.sources.wandbproto import KEY, NESTED_ITEM_TAG, NESTED_KEY, VALUE_JSON_TAG

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

FEW = 64  # records: side by side, fewer gain nothing
LONGEST_RECORD, LONGEST_KEY, LONGEST_VALUE = 1 << 20, 256, 4096  # bytes; longer ones are not plain
MOST_NAMES = 8  # nested names of one key
PAD = 4096  # zero bytes behind the data: looking ahead stays inside
FAR = 1 << 40  # in place of a longer length than four bytes hold: no message reaches so far
NUMBERED = 1 << 3  # tag of Record.num, which stands first
KEY_TAGS = NESTED_ITEM_TAG[KEY], NESTED_ITEM_TAG[NESTED_KEY]
LOW_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
JSON_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"


class Items(NamedTuple):
    """Items in file order: the record each is in (position in what was asked), its key and its value's place.

    `keys[code]` is the raw key (see `wandbproto.path`), keys in order of first use.
    """

    record: Ints
    code: Ints
    start: Ints
    end: Ints
    keys: list[bytes]


class Chunk:
    """Some records' data after one another, with the message in each: its tag (0: not told), start and end."""

    def __init__(self, records: Sequence[bytes]) -> None:
        held = [data if len(data) <= LONGEST_RECORD else b"" for data in records]
        self.data = b"".join((*held, bytes(PAD)))
        self.bytes = np.frombuffer(self.data, np.uint8)
        ends = np.cumsum(np.fromiter(map(len, held), np.int64, len(held)))
        at = np.concatenate([[0], ends[:-1]])[: len(held)]
        _, behind = _varints(self.bytes, at + 1)
        at = np.where(self.bytes[at] == NUMBERED, behind, at)
        size, self.start = _varints(self.bytes, at + 1)
        self.end = self.start + size
        self.tag = np.where(self.end <= ends, self.bytes[at], 0)

    def of(self, kind: int) -> Ints:
        """Positions of the records that hold a message of `kind`, a field of Record."""
        return np.flatnonzero(self.tag == (kind << 3 | BYTES))

    def items(self, records: Ints, item: int, other: int = 0) -> tuple[Items, Mask]:
        """The items (fields numbered `item`) of the plain ones among some records, and which of those are plain.

        Fields numbered `other` are stepped over.
        """
        tags = item << 3 | BYTES, other << 3 | BYTES
        (record, *spans), plain = _walk(self.bytes, self.start[records], self.end[records], *tags)
        order = np.argsort(record, kind="stable")
        order = order[plain[record[order]]]
        key, behind, start, end = (span[order] for span in spans)
        first = _first_alike(self.bytes, key, behind)
        new = first == np.arange(len(first))
        keys = [self.data[a:b] for a, b in zip(key[new].tolist(), behind[new].tolist(), strict=True)]
        return Items(record[order], (np.cumsum(new) - 1)[first], start, end, keys), plain

    def numbers(self, items: Items) -> tuple[NDArray[np.float64], pl.Series]:
        """The values of items; those that are no plain number are NaN, and their texts stand in the second (else NULL).

        A text with a byte that is not ASCII, or a line break, holds a NUL in its place: it is no JSON.
        """
        if not len(items.code):
            return np.zeros(0), pl.Series(dtype=pl.String)
        joined = self.bytes.copy()
        joined[joined >= 0x80] = 0
        joined[joined == ord("\n")] = 0
        joined[items.end] = ord("\n")  # an item is followed by a tag, or the padding
        bounds = np.stack([items.start, items.end + 1], axis=1).ravel()
        stretches = np.diff(bounds, prepend=0, append=len(joined))
        lines = joined[np.repeat(np.arange(len(stretches)) % 2 == 1, stretches)].tobytes()
        texts = pl.Series([lines[:-1].decode()]).str.split("\n").explode()
        plain = texts.str.contains(JSON_NUMBER) & (texts != "-0")  # JSON's integer has no sign there
        values = texts.set(~plain, None).cast(pl.Float64).fill_null(np.nan).to_numpy(writable=True)
        return values, texts.set(plain, None)


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


def _walk(data: NDArray[np.uint8], at: Ints, end: Ints, item: int, other: int) -> tuple[Ints, Mask]:
    """The n-th items of all messages at once, n by n, as rows message, key's start and end, value's start and end.

    With them which messages are plain; the few longest ones are called not plain.
    """
    plain, live = np.ones(len(at), np.bool_), np.flatnonzero(at < end)
    at, found = at[live], [np.zeros((5, 0), np.int64)]
    while len(live) >= FEW:
        tag = data[at]
        size, key = _varints(data, at + 1)
        stop = key + size
        behind = _behind_keys(data, key)
        length, start = _varints(data, behind + 2)
        ends = (start + length == stop) & (behind - key <= LONGEST_KEY) & (length <= LONGEST_VALUE)
        valued = (data[behind] == VALUE_JSON_TAG[0]) & (data[behind + 1] == VALUE_JSON_TAG[1]) & ends
        good = (stop <= end[live]) & np.where(tag == item, valued, tag == other)
        plain[live[~good]] = False
        taken = good & (tag == item)
        found.append(np.stack([live, key, behind, start, stop])[:, taken])
        at, live = stop[good], live[good]
        going = at < end[live]
        at, live = at[going], live[going]
    plain[live] = False
    return np.concatenate(found, axis=1), plain


def _behind_keys(data: NDArray[np.uint8], at: Ints) -> Ints:
    for _ in range(MOST_NAMES):
        tag, length = data[at], data[at + 1].astype(np.int64)
        names = ((tag == KEY_TAGS[0]) | (tag == KEY_TAGS[1])) & (length < 0x80)
        if not names.any():
            break
        at = at + np.where(names, 2 + length, 0)
    return at


def _first_alike(data: NDArray[np.uint8], start: Ints, end: Ints) -> Ints:
    """For each stretch of bytes the position of the first one equal to it."""
    if not len(start):
        return start
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes at every offset
    length = end - start
    columns = {"length": length} | {
        str(at): words[start + at] & LOW_BYTES[np.clip(length - at, 0, 8)] for at in range(0, int(length.max()), 8)
    }
    first = pl.DataFrame({"at": np.arange(len(start)), **columns}).select(pl.col("at").first().over(*columns))
    return first["at"].to_numpy()
