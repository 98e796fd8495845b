"""Kinds of log lines: a log of millions of lines has few kinds, so each kind is examined once.

Two lines are of one kind if they differ only in digits, signs, blanks, bars and the letters of exponents, nan and inf.
The properties of a kind (a time at a fixed column, a rank's prefix, a table's row) are read from three of its lines.
They decide only where to look: what is found there is checked line by line.
"""

from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines import stamps
from loganalyst.sources.text.lines.chunks import Chunk, split
from loganalyst.sources.text.lines.heads import before_cells
from loganalyst.sources.text.lines.numberwords import BUSY, NUMERIC
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics import barerows, headings, printedforms, printedtables
from loganalyst.sources.text.sizes import SIZES

MAX_KINDS = 20_000  # kinds that are remembered; then all are forgotten and learned again
# Rows of a batch. Rarer kinds are examined only if they hold a word of training, and in each batch again.
MIN_ROWS_OF_KIND = 3
# Bytes that do not distinguish kinds; non-ASCII bytes are among them because bars are drawn with them
_IGNORED_BYTES = b"0123456789.+-# =>eEnaifNAIF\t" + bytes(range(128, 256))
_NONE, _ANYWHERE = -1, -2  # columns of a time: the kind has none; it is searched for in each line
_FLAG_REGEXES = {
    "numeric": NUMERIC,
    "busy": BUSY,
    "table": printedtables.BLOCK,
    "header": printedtables.HEADER,
    "bare": barerows.ROW,
    "heading": headings.HEADING,
    "closes": headings.CLOSES,
}
_BEHIND_HEADS = ("header", "bare")  # also behind the head of a logger: `2024-05-01 10:00:02 - 3,0.5,0.6`
FLAGS = ("prefixed", *_FLAG_REGEXES)

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NO_SAMPLES = np.empty((0, 3), np.int64)


class Look(msgspec.Struct, frozen=True):
    """What is known of each row of a batch: its kind (int64, from 0; negative: rare), hash (uint64) and time
    (datetime64[us]). Flags (bool): a prefix of rank or node, a number, a loss, a row of a table, a table's header,
    a heading of held-out results and the end of these.
    """

    kind: NDArray[np.int64]
    hash: NDArray[np.uint64]
    time: stamps.Times
    flags: dict[str, Mask]


class Kinds:
    """The kinds met so far. After `look`, `fresh` has three rows (int64) of each new kind, the newest kinds: one of
    middle length, a long and a short one. A damaged line is mostly the longest or the shortest.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._keep(np.empty(0, np.uint64), np.empty(0, np.int64))
        # by kind; the last element is for rows of no kind
        self.columns = np.array([_NONE])
        self.flags = {name: np.zeros(1, bool) for name in FLAGS}
        self.fresh = _NO_SAMPLES
        self.passing = np.empty(0, np.int64)  # rare kinds: perhaps learned from one damaged line

    def _keep(self, hashes: NDArray[np.uint64], ids: NDArray[np.int64]) -> None:
        """Remember these kinds, and no others."""
        order = np.argsort(hashes)
        self.hashes, self.ids = hashes[order], ids[order]
        self.guess = np.zeros(1 << 16, np.int64)  # by the low bits of a hash: its likely place in `hashes`
        self.guess[_low(self.hashes)] = np.arange(len(hashes))

    def __len__(self) -> int:
        """The number of kinds met, with those forgotten since."""
        return len(self.columns) - 1

    def look(self, chunk: Chunk, hashes: NDArray[np.uint64]) -> Look:
        """What is known of the rows of a batch; `hashes` identify their kinds (`kind_hashes`)."""
        if len(self) > MAX_KINDS:
            self._forget()
        if len(self.passing):
            lasting = ~np.isin(self.ids, self.passing)
            self._keep(self.hashes[lasting], self.ids[lasting])
        self.fresh, self.passing = _NO_SAMPLES, np.empty(0, np.int64)
        kind = self._find(hashes)
        rare = unknown = np.flatnonzero(kind < 0)
        if len(unknown):
            rare = self._learn(chunk, hashes, unknown)
            kind[unknown] = self._find(hashes[unknown])
        flags = {name: known[kind] if known.any() else np.zeros(len(kind), bool) for name, known in self.flags.items()}
        time = self._times(chunk, kind)
        if len(rare):
            text = chunk.some(rare)
            time[rare] = stamps.times(text)
            for name, mask in _flags_of(text).items():
                flags[name][rare] = mask
        return Look(kind, hashes, time, flags)

    def _find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The kind of each hash, -1 where it is not known."""
        if not len(self.hashes):
            return np.full(len(hashes), -1)
        at = self.guess[_low(hashes)]
        others = np.flatnonzero(self.hashes[at] != hashes)
        kind = self.ids[at]
        if len(others):
            hashes = hashes[others]
            at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            kind[others] = np.where(self.hashes[at] == hashes, self.ids[at], -1)
        return kind

    def _learn(self, chunk: Chunk, hashes: NDArray[np.uint64], rows: Rows) -> Rows:
        """Remember the kinds of the given rows; return the rows whose kinds are too rare."""
        rows = rows[np.argsort(np.diff(chunk.starts)[rows], kind="stable")]
        keys, which, count = np.unique(hashes[rows], return_inverse=True, return_counts=True)
        short = np.cumsum(count) - count
        alike = rows[np.argsort(which, kind="stable")]
        rare = np.flatnonzero(count < MIN_ROWS_OF_KIND)
        texts = chunk.some(alike[short[rare]]).to_frame("text")
        kept = count >= MIN_ROWS_OF_KIND
        kept[rare] = texts.select(printedforms.is_worth(pl.col("text"))).to_series().to_numpy()
        self.passing = len(self) + np.flatnonzero(count[kept] < MIN_ROWS_OF_KIND)
        samples = np.stack([short + count // 2, short + count - 1, short], axis=1)
        self._add(chunk, keys[kept], alike[samples[kept]])
        return np.sort(rows[~kept[which]])

    def _add(self, chunk: Chunk, keys: NDArray[np.uint64], samples: Rows) -> None:
        """Remember kinds; `samples` has some rows of each."""
        ids = len(self) + np.arange(len(keys))
        self._keep(np.concatenate([self.hashes, keys]), np.concatenate([self.ids, ids]))
        texts = chunk.some(samples.ravel())
        columns = _stamp_columns(texts).reshape(samples.shape)
        first_stamped = np.argmax(columns != _NONE, axis=1)  # the first sample that has a time
        self.columns = _extended(self.columns, columns[np.arange(len(keys)), first_stamped])
        for name, flags in _flags_of(texts).items():
            self.flags[name] = _extended(self.flags[name], np.any(flags.reshape(samples.shape), axis=1))
        self.fresh = samples

    def _times(self, chunk: Chunk, kind: NDArray[np.int64]) -> stamps.Times:
        time = np.full(len(kind), np.datetime64("NaT", "us"))
        column = self.columns[kind]
        fixed = np.flatnonzero(column >= 0)
        if len(fixed):
            time[fixed] = stamps.fixed(chunk.data, chunk.starts[fixed] + column[fixed])
        loose = np.flatnonzero((column != _NONE) & np.isnat(time))
        if len(loose):
            time[loose] = stamps.times(chunk.some(loose))
        return time


def _stamp_columns(lines: pl.Series) -> NDArray[np.int64]:
    """The column where the time of each line begins, _NONE or _ANYWHERE."""
    stamped = ~np.isnat(stamps.times(lines))
    found = [stamps.column(line) if has else _NONE for line, has in zip(lines, stamped.tolist(), strict=True)]
    return np.array([_ANYWHERE if column is None else column for column in found], np.int64)


def _low(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The low 16 bits of each hash."""
    return hashes & np.uint64(0xFFFF)


def _extended(known: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """`known` with `more` before its last element."""
    return np.concatenate([known[:-1], more, known[-1:]])


def kind_hashes(data: bytes, cache: int = SIZES.cache) -> NDArray[np.uint64]:
    """A hash of the kind of each line of `data`."""
    parts = (data[k : k + cache].translate(None, _IGNORED_BYTES) for k in range(0, len(data), cache))
    return split(b"".join(parts)).hash().to_numpy()


def _flags_of(text: pl.Series) -> dict[str, Mask]:
    """The flags of some lines."""
    parts = described(text)
    parts = parts.with_columns(message=before_cells(parts["body"]))
    body = {name: pl.col("body").str.contains(regex) for name, regex in _FLAG_REGEXES.items()}
    body |= {n: body[n] | pl.col("message").str.contains(_FLAG_REGEXES[n]) for n in _BEHIND_HEADS}
    flags = parts.select_seq(prefixed=pl.col("prefix") != "", **body)
    return {name: flags[name].to_numpy() for name in FLAGS}
