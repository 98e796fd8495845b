"""Kinds of log lines: a log of millions of lines has few, so each is looked at once.

Lines are of one kind where they are the same but for digits, signs, blanks, bars and the letters of exponents, nan and
inf. What is told of a kind (a time at a fixed column, a rank's prefix, a table's row) is read from three of its lines;
that only decides where to look: what is found there is checked line by line.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines import stamps
from loganalyst.sources.text.lines.loglines import CACHED, Chunk, split
from loganalyst.sources.text.lines.numberwords import BUSY, NUMERIC, WORTH
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics import printedtables

MOST = 20_000  # kinds that are remembered; then all are looked at anew
OFTEN = 3  # lines of a batch: rarer kinds are looked at only if they hold a word of training, and in each batch anew
_LOOSE = b"0123456789.+-# =>eEnaifNAIF\t" + bytes(range(128, 256))
_NONE, _ANYWHERE = -1, -2  # columns of a time: there is none, it is searched for in each line
FLAGS = ("prefixed", "numeric", "busy", "table", "header")
_REGEX = {"numeric": NUMERIC, "busy": BUSY, "table": printedtables.BLOCK, "header": printedtables.HEADER}

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NOTHING = np.empty((0, 3), np.int64)


@dataclass(frozen=True)
class Look:
    """What is known of each row of a batch: its kind (int64, from 0; negative: rare), hash (uint64) and time
    (datetime64[us]); flags (bool): a prefix of rank or node, a number, a loss, a row of a table, a table's header.
    """

    kind: NDArray[np.int64]
    hash: NDArray[np.uint64]
    time: stamps.Times
    flags: dict[str, Mask]


class Kinds:
    """The kinds met so far. `fresh` has, after `look`, three rows (int64) of each kind that is new, the last ones: one
    of middle length, a long and a short one. A damaged line is mostly the longest or the shortest.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._keep(np.empty(0, np.uint64), np.empty(0, np.int64))
        # by kind, and at the end what holds of no kind
        self.columns = np.array([_NONE])
        self.flags = {name: np.zeros(1, bool) for name in FLAGS}
        self.fresh = _NOTHING
        self.passing = np.empty(0, np.int64)  # kinds that were rare: one damaged line may have told of them

    def _keep(self, hashes: NDArray[np.uint64], ids: NDArray[np.int64]) -> None:
        """Know these kinds, and no others."""
        order = np.argsort(hashes)
        self.hashes, self.ids = hashes[order], ids[order]
        self.near = np.zeros(1 << 16, np.int64)  # by the low bits of a hash: where it may stand in `hashes`
        self.near[_low(self.hashes)] = np.arange(len(hashes))

    def __len__(self) -> int:
        """How many were told apart; some are known no more."""
        return len(self.columns) - 1

    def look(self, chunk: Chunk, hashes: NDArray[np.uint64]) -> Look:
        """What is known of the rows of a batch, of which `hashes` tell the kinds (`hashed`)."""
        if len(self) > MOST:
            self._forget()
        if len(self.passing):
            lasting = ~np.isin(self.ids, self.passing)
            self._keep(self.hashes[lasting], self.ids[lasting])
        self.fresh, self.passing = _NOTHING, np.empty(0, np.int64)
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
            for name, mask in _told(text).items():
                flags[name][rare] = mask
        return Look(kind, hashes, time, flags)

    def _find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The kind of each hash, -1 where it is not known."""
        if not len(self.hashes):
            return np.full(len(hashes), -1)
        at = self.near[_low(hashes)]
        others = np.flatnonzero(self.hashes[at] != hashes)
        kind = self.ids[at]
        if len(others):
            hashes = hashes[others]
            at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            kind[others] = np.where(self.hashes[at] == hashes, self.ids[at], -1)
        return kind

    def _learn(self, chunk: Chunk, hashes: NDArray[np.uint64], rows: Rows) -> Rows:
        """Remember the kinds of the given rows; those of kinds that are too rare are given back."""
        rows = rows[np.argsort(np.diff(chunk.starts)[rows], kind="stable")]
        keys, which, count = np.unique(hashes[rows], return_inverse=True, return_counts=True)
        short = np.cumsum(count) - count
        alike = rows[np.argsort(which, kind="stable")]
        seldom = np.flatnonzero(count < OFTEN)
        worth = chunk.some(alike[short[seldom]]).str.to_lowercase().str.replace_all("_", " ", literal=True)
        kept = count >= OFTEN
        kept[seldom] = worth.str.contains(WORTH).to_numpy()
        self.passing = len(self) + np.flatnonzero(count[kept] < OFTEN)
        samples = np.stack([short + count // 2, short + count - 1, short], axis=1)
        self._add(chunk, keys[kept], alike[samples[kept]])
        return np.sort(rows[~kept[which]])

    def _add(self, chunk: Chunk, keys: NDArray[np.uint64], samples: Rows) -> None:
        """Remember kinds, of each of which there are some rows."""
        ids = len(self) + np.arange(len(keys))
        self._keep(np.concatenate([self.hashes, keys]), np.concatenate([self.ids, ids]))
        texts = chunk.some(samples.ravel())
        columns = _stamp_columns(texts).reshape(samples.shape)
        told = np.argmax(columns != _NONE, axis=1)  # the first that has a time
        self.columns = _extended(self.columns, columns[np.arange(len(keys)), told])
        for name, flags in _told(texts).items():
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
    """Where the time of each line begins, _NONE or _ANYWHERE."""
    stamped = ~np.isnat(stamps.times(lines))
    found = [stamps.column(line) if has else _NONE for line, has in zip(lines, stamped.tolist(), strict=True)]
    return np.array([_ANYWHERE if column is None else column for column in found], np.int64)


def _low(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return hashes & np.uint64(0xFFFF)


def _extended(known: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """With `more` before the last one."""
    return np.concatenate([known[:-1], more, known[-1:]])


def hashed(data: bytes) -> NDArray[np.uint64]:
    """A hash of the kind of each line of `data`."""
    parts = (data[k : k + CACHED].translate(None, _LOOSE) for k in range(0, len(data), CACHED))
    return split(b"".join(parts)).hash().to_numpy()


def _told(text: pl.Series) -> dict[str, Mask]:
    """The flags of some lines."""
    body = {name: pl.col("body").str.contains(regex) for name, regex in _REGEX.items()}
    flags = described(text).select_seq(prefixed=pl.col("prefix") != "", **body)
    return {name: flags[name].to_numpy() for name in FLAGS}
