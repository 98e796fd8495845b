"""LevelDB's log format (github.com/google/leveldb, doc/log_format.md) as W&B writes it: 32 KiB blocks of fragments.

A fragment is CRC-32 u32 (zlib's, of the type byte and the data), length u16, type u8 (little-endian) and the data.
One full fragment, or a first, any middle and a last one, make a record. All blocks of a window are walked in parallel.
After damage, the search for the next fragment with a right checksum continues in the same block, then in the next.
"""

import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from loganalyst.sources.files.gaps import Gap
from loganalyst.sources.wandb.repair import (
    BLOCK,
    CUT,
    DAMAGE,
    FIRST,
    FULL,
    HEADER,
    LAST,
    MIDDLE,
    WRONG,
    damage,
    fragments,
)

WINDOW = 128 * BLOCK  # bytes read at a time
MAX_RECORD = 8 << 20  # bytes; longer records are skipped, which bounds memory
PAD = 512  # zero bytes behind the data of a batch, so that looking ahead stays in bounds

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


class Batch(NamedTuple):
    """The intact records that end in one window of the file.

    `data` holds them, followed by PAD zero bytes. Record i is data[starts[i]:ends[i]]; its first fragment begins at
    file offset `offsets[i]`. `gaps`: damage that a whole record follows. `behind`: the file offset behind the last
    whole record so far. `unfinished`: the bytes behind that, in the last window.
    """

    data: bytes
    starts: Ints
    ends: Ints
    offsets: Ints
    gaps: list[Gap]
    behind: int
    unfinished: Gap | None


class _Fragments(NamedTuple):
    """Fragments in file order: type (DAMAGE: a stretch without any), begin of the header, end of the data."""

    kind: Ints
    header: Ints
    end: Ints


def batches(file: BinaryIO, at: int, *, window: int = WINDOW) -> Iterator[Batch]:
    """All intact records of an open binary file from offset `at` on, one window at a time. Raises OSError.

    `at` is the end of the file's own header, or of a record. `window` is a multiple of BLOCK, in bytes.
    """
    records = _Records(at)
    base = file.seek(at - at % BLOCK)
    while True:
        data = file.read(window)
        yield records.batch(base, data, max(at - base, 0), is_last=len(data) < window)
        if len(data) < window:
            return
        base += window


class _Records:
    """The state between windows: an unfinished record, and damage that no whole record has followed yet."""

    def __init__(self, at: int) -> None:
        self.good = at  # the end of the last whole record
        self.why = ""  # the damage behind it
        self.begun: tuple[int, bytes] | None = None  # the offset of an unfinished record, and its data so far

    def batch(self, base: int, window: bytes, skip: int, *, is_last: bool) -> Batch:
        """The records that end in the window at file offset `base`. Its first `skip` bytes were read before."""
        (kind, begin, end), parts = _fragments(window, skip)
        begin, end = begin + base, end + base
        if self.begun:
            (offset, held), self.begun = self.begun, None
            parts.insert(0, held)
            kind, begin, end = np.insert(kind, 0, FIRST), np.insert(begin, 0, offset), np.insert(end, 0, base)
        first, last, follows = _stretches(kind)
        for i in np.flatnonzero(follows).tolist():
            parts[i] = parts[i][1:]  # drop the type byte
        opened, closed = np.isin(kind[first], (FULL, FIRST)), np.isin(kind[last], (FULL, LAST))
        if len(first) and opened[-1] and not closed[-1]:
            self._hold(int(begin[first[-1]]), parts[first[-1] :])
            del parts[first[-1] :]
            first, last, opened, closed = first[:-1], last[:-1], opened[:-1], closed[:-1]
        whole = opened & closed
        reasons = _reasons(base, window, kind[first], begin[first]) if self.why or not whole.all() else []
        gaps = self._gaps(whole, begin[first], end[last], reasons)
        parts = parts if whole.all() else _kept(parts, np.repeat(whole, last - first + 1))
        behind = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
        begins = np.append(0, behind)[first[whole]]
        return Batch(
            data=b"".join((*parts, bytes(PAD))),
            starts=begins + 1,  # skip the type byte of the first fragment
            ends=behind[last[whole]],
            offsets=begin[first[whole]],
            gaps=gaps,
            behind=self.good,
            unfinished=self._unfinished(base + len(window)) if is_last else None,
        )

    def _gaps(self, whole: Mask, begins: Ints, ends: Ints, reasons: list[str]) -> list[Gap]:
        """The damage between whole records. Damage at the end is kept for later. Empty `reasons`: all are whole."""
        found = []
        if not reasons and len(ends):
            self.good = int(ends[-1])
        for why, sound, begin, end in zip(reasons, whole.tolist(), begins.tolist(), ends.tolist(), strict=False):
            if sound and self.why:
                why_lost = WRONG if self.why == CUT else self.why  # a record follows, so the file was not cut off here
                found.append(Gap(self.good, begin - self.good, why_lost))
            self.why, self.good = ("", end) if sound else (self.why or why, self.good)
        return found

    def _hold(self, begin: int, parts: list[bytes]) -> None:
        """Keep the fragments of an unfinished record for the next window."""
        self.begun = begin, b"".join(parts)
        if len(self.begun[1]) > MAX_RECORD:
            self.begun, self.why = None, self.why or f"a record longer than {MAX_RECORD >> 20} MiB"

    def _unfinished(self, end: int) -> Gap | None:
        if not self.why and not self.begun:
            return None
        return Gap(self.good, end - self.good, self.why or CUT)


def _kept(parts: list[bytes], taken: Mask) -> list[bytes]:
    """The data of the fragments, empty for those that are not taken."""
    return [part if kept else b"" for part, kept in zip(parts, taken.tolist(), strict=True)]


def _stretches(kind: Ints) -> tuple[Ints, Ints, Mask]:
    """The first and last fragment of each record or piece of a broken one; which fragments continue one."""
    follows = np.zeros(len(kind), np.bool_)
    follows[1:] = (kind[1:] >= MIDDLE) & ((kind[:-1] == FIRST) | (kind[:-1] == MIDDLE))
    first = np.flatnonzero(~follows)
    return first, np.append(first[1:], len(kind))[: len(first)] - 1, follows


def _reasons(base: int, window: bytes, kinds: Ints, begins: Ints) -> list[str]:
    """Why each stretch would not be a record, by its first fragment; empty where the damage behind it explains that."""
    by_kind = {FULL: "a record without its end", FIRST: "a record without its end", DAMAGE: ""}
    out = [by_kind.get(kind, "a record without its beginning") for kind in kinds.tolist()]
    for i in np.flatnonzero(kinds == DAMAGE).tolist():
        block = (int(begins[i]) - base) // BLOCK * BLOCK
        out[i] = damage(window[block : block + BLOCK], int(begins[i]) - base - block)
        if i and kinds[i - 1] in (FULL, FIRST):
            out[i - 1] = ""
    return out


def _fragments(window: bytes, skip: int) -> tuple[_Fragments, list[bytes]]:
    """The fragments of a window from byte `skip` on, and the type byte and data of each. The window begins a block."""
    places = max(len(window) - HEADER.size + 1, 0)  # offsets where a header could begin; the next arrays use them:
    crc, length = np.ndarray(places, "<u4", window, 0, (1,)), np.ndarray(places, "<u2", window, 4 * (places > 0), (1,))
    kinds = np.ndarray(places, np.uint8, window, 6 * (places > 0))
    header = _headers(kinds, length, len(window), skip)
    kind, end = kinds[header].astype(np.int64), header + HEADER.size + length[header]
    sound = (kind >= FULL) & (kind <= LAST) & (end <= np.minimum(header - header % BLOCK + BLOCK, len(window)))
    parts = [window[a:b] for a, b in zip((header + 6).tolist(), np.where(sound, end, 0).tolist(), strict=True)]
    sums = np.fromiter(map(zlib.crc32, parts), np.uint32, len(parts))
    sound &= sums == crc[header]
    behind = int(end[-1]) if len(end) else skip
    damaged = set((header[~sound] // BLOCK).tolist())
    if behind < len(window) and len(window) % BLOCK:
        damaged.add(behind // BLOCK)
    if not damaged:
        return _Fragments(kind, header, end), parts
    found = _repaired(window, skip, _Fragments(kind, header, end), sorted(damaged))
    spans = zip((found.header + 6).tolist(), found.end.tolist(), strict=True)
    return found, [window[a:b] for a, b in spans]


def _headers(kind: NDArray[np.uint8], length: NDArray[np.uint16], size: int, skip: int) -> Ints:
    """The offsets of fragment headers, by following their lengths: one header of every block at a time."""
    at = np.arange(0, size, BLOCK)
    stop = np.minimum(at + BLOCK, size)
    at[:1] = skip
    found = [at[:0]]
    while len(at):
        fits = at + HEADER.size <= stop
        at, stop = at[fits], stop[fits]
        found.append(at)
        known = kind[at] - FULL < LAST  # unsigned arithmetic: DAMAGE (0) wraps to 255
        at, stop = (at + HEADER.size + length[at])[known], stop[known]
    return np.sort(np.concatenate(found))


def _repaired(window: bytes, skip: int, found: _Fragments, damaged: list[int]) -> _Fragments:
    """The same fragments, with those of `damaged` blocks replaced by the ones found by checksum."""
    rows: list[tuple[int, int, int]] = []
    for base in (block * BLOCK for block in damaged):
        block = window[base : base + BLOCK]
        rows += [(kind, base + at, base + end) for kind, at, end in fragments(block, 0 if base else skip)]
    kept = ~np.isin(found.header // BLOCK, damaged)
    both = np.concatenate([np.stack(found)[:, kept], np.array(rows, np.int64).reshape(-1, 3).T], axis=1)
    return _Fragments(*both[:, np.argsort(both[1], kind="stable")])
