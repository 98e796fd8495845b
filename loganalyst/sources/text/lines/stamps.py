"""The time that stands in the head of a log line, as written: logs rarely name a zone, so it is taken as UTC."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Time

NEAR = 100  # rows behind a stamp that are of its time: a traceback's last line has none of its own
WITHIN = 120  # characters at the head of a line where its time stands
_ISO = r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T _-]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
_US = r"([0-9]{2})/([0-9]{2})/([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
_FIXED = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _-][0-9]{2}:[0-9]{2}:[0-9]{2}")
_DAY = re.compile(r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})")
_PIECE = 1 << 15  # stamps that are read at once: they stay in a cache of the processor
_FRACTION, _UNITS = range(20, 26), 10 ** np.arange(5, -1, -1)  # where its digits stand, and how many µs each is
_BETWEEN = np.frombuffer(b"T _-", np.uint8)  # what may stand between date and time
_LONGEST = 32  # bytes that are looked at: a stamp with six digits of a fraction, and some more

Times = NDArray[np.datetime64]


def _pairs() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Of each two bytes: the number that they are as digits (of one digit ten times it, else 0); whether both are."""
    tens, ones = ((np.arange(1 << 16) >> shift & 255) - ord("0") for shift in (0, 8))
    first, second = (tens >= 0) & (tens <= 9), (ones >= 0) & (ones <= 9)
    return np.where(first, 10 * tens + np.where(second, ones, 0), 0).astype(np.uint8), first & second


_PAIRS, _DIGITS = _pairs()


def times(text: pl.Series) -> Times:
    """The date and time (datetime64[us], NaT where there is none) in the head of each text."""
    head = text.str.slice(0, WITHIN).rename("head")
    stamped = head.str.contains(f"{_ISO}|{_US}")
    out = np.full(len(head), np.datetime64("NaT", "us"))
    if stamped.any():
        out[stamped.to_numpy()] = head.filter(stamped).to_frame().select(_time(pl.col("head"))).to_series().to_numpy()
    return out


@dataclass
class Clock:
    """The time of rows without a stamp: that of the last one before them, NEAR rows at most. Passes from batch to
    batch: `row` is where the last stamp stands in the file (None: nowhere), `time` what it says (µs).
    """

    row: int | None = None
    time: int = 0

    def at(self, time: Times, rows: NDArray[np.int64], first: int) -> Times:
        """The times of the given rows of a batch whose stamps are `time` and whose first row is number `first`."""
        told = np.full(len(rows), np.datetime64("NaT", "us"))
        stamped = np.flatnonzero(~np.isnat(time))
        before = np.searchsorted(stamped, rows, side="right") - 1
        if self.row is not None:
            told[(before < 0) & (rows - (self.row - first) <= NEAR)] = np.datetime64(self.time, "us")
        known = np.flatnonzero(before >= 0)
        last = stamped[before[known]]
        near = rows[known] - last <= NEAR
        told[known[near]] = time[last[near]]
        return told

    def go_on(self, time: Times, first: int) -> None:
        """Remember the last stamp of a batch."""
        last = len(time) - 1 - int(np.argmin(np.isnat(time)[::-1]))
        if len(time) and not np.isnat(time[last]):
            self.row, self.time = first + last, int(time[last].astype(np.int64))


def column(text: str) -> int | None:
    """Where a stamp like 2024-05-01 10:00:02 begins in a line, None where there is none (or perhaps not in bytes)."""
    found = _FIXED.search(text[:WITHIN])
    return found.start() if found and text[:WITHIN].isascii() else None


def fixed(data: bytes, at: NDArray[np.int64]) -> Times:
    """The stamps that begin at the places `at` of `data`, NaT where what stands there is none."""
    time = np.empty(len(at), "M8[us]")
    if len(at) and int(at.max()) > len(data) - _LONGEST:
        data += b"\n" * _LONGEST
    places = np.ndarray(max(len(data) - _LONGEST + 1, 0), f"V{_LONGEST}", data, strides=(1,))
    for k in range(0, len(at), _PIECE):
        time[k : k + _PIECE] = _read(places[at[k : k + _PIECE]])
    return time


def _read(text: NDArray[np.void]) -> Times:
    """The stamps with which pieces of text (_LONGEST bytes) begin."""
    head, minute, tail, _ = text.view("<u8").reshape(-1, 4).T
    second = tail & np.uint64(0xFFFFFF)
    # lines of one second follow one another: each such run is read once
    new = _changes(head, minute, second)
    time = np.repeat(_seconds(head[new], minute[new], second[new]), np.diff(np.append(new, len(text))))
    mark = (tail >> np.uint64(24)).astype(np.uint8)
    going = ((mark == ord(",")) | (mark == ord("."))) & ~np.isnat(time)
    bytes_, micros = text.view(np.uint8), time.view(np.int64)
    for place, unit in zip(_FRACTION, _UNITS, strict=True):
        digit = bytes_[place::_LONGEST] - np.uint8(ord("0"))
        going &= digit <= 9
        if not going.any():
            break
        micros += (digit * going.view(np.uint8)) * unit
    return time


def _changes(*words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where any word is another than before; the first is."""
    changed = np.ones(len(words[0]), bool)
    changed[1:] = words[0][1:] != words[0][:-1]
    for word in words[1:]:
        changed[1:] |= word[1:] != word[:-1]
    return np.flatnonzero(changed)


def _seconds(head: NDArray[np.uint64], minute: NDArray[np.uint64], second: NDArray[np.uint64]) -> Times:
    """The time of each date and minute (eight bytes each) and second (three), NaT where it is none."""
    date = minute & np.uint64(0xFFFF)
    new = _changes(head, date)
    told = np.stack([head[new], date[new]], axis=1)
    begun = np.array([_day(pair.tobytes()[:10]) for pair in told], "M8[us]")
    past, valid = np.zeros(len(head), np.int64), np.isin(minute >> np.uint64(16) & np.uint64(255), _BETWEEN)
    for word, place, most, unit in ((minute, 24, 24, 3600), (minute, 48, 60, 60), (second, 8, 60, 1)):
        pair = (word >> np.uint64(place)).astype(np.uint16)
        valid &= _DIGITS[pair] & (_PAIRS[pair] < most)
        past += _PAIRS[pair] * np.int64(unit)
    for word, place in ((minute, 40), (second, 0)):
        valid &= word >> np.uint64(place) & np.uint64(255) == ord(":")
    base = np.repeat(begun, np.diff(np.append(new, len(head))))
    return np.where(valid, base + past.view("m8[s]"), np.datetime64("NaT", "us"))


@lru_cache(maxsize=10_000)
def _day(text: bytes) -> np.datetime64:
    """What stands like 2024-05-01, NaT where it is none."""
    try:
        found = _DAY.fullmatch(text.decode())
        return np.datetime64("{}-{}-{}".format(*found.groups()), "us") if found else np.datetime64("NaT", "us")
    except ValueError:
        return np.datetime64("NaT", "us")


def _time(text: pl.Expr) -> pl.Expr:
    iso, us = text.str.extract_groups(_ISO), text.str.extract_groups(_US)

    def stamp(groups: pl.Expr, year: str, month: str, day: str) -> pl.Expr:
        part = groups.struct.field
        date = pl.concat_str([part(year), part(month), part(day)], separator="-")
        fraction = part("5").fill_null("0").str.pad_end(6, "0")
        return pl.concat_str([date, pl.lit(" "), part("4"), pl.lit("."), fraction])

    written = pl.coalesce(stamp(iso, "1", "2", "3"), stamp(us, "3", "1", "2"))
    return written.str.to_datetime("%Y-%m-%d %H:%M:%S%.6f", strict=False, time_unit="us").cast(Time)
