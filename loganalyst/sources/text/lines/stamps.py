"""The time in the head of a log line, as written. Logs rarely name a time zone, so it is read as UTC."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Time

# Rows without a stamp belong to the last stamp at most this far above: a traceback's last line has no stamp
MAX_ROWS_BELOW = 100
HEAD_CHARS = 120  # characters at the head of a line that may hold its time
# `2024-05-01 10:00:02,123`, `2024/05/01T10:00:02.5`, `2024-05-01_10:00:02`
_ISO = r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T _-]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
# `05/01/2024 10:00:02.5`
_US = r"([0-9]{2})/([0-9]{2})/([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
# `2024-05-01 10:00:02`
_FIXED = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _-][0-9]{2}:[0-9]{2}:[0-9]{2}")
_DAY = re.compile(r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})")  # `2024-05-01`
_STAMPS_AT_ONCE = 1 << 15  # stamps that are read at once: they stay in the processor's cache
# columns of the fraction's digits, and the µs of each digit
_FRACTION_COLUMNS, _FRACTION_UNITS = range(20, 26), 10 ** np.arange(5, -1, -1)
_SEPARATORS = np.frombuffer(b"T _-", np.uint8)  # bytes that may separate date and time
_STAMP_BYTES = 32  # bytes that are read: a stamp with six digits of a fraction, and some more

Times = NDArray[np.datetime64]


def _pairs() -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Tables for each pair of bytes: its value as two digits (ten times the first if only that is a digit, else 0), and
    whether both are digits.
    """
    tens, units = ((np.arange(1 << 16) >> shift & 255) - ord("0") for shift in (0, 8))
    first, second = (tens >= 0) & (tens <= 9), (units >= 0) & (units <= 9)
    return np.where(first, 10 * tens + np.where(second, units, 0), 0).astype(np.uint8), first & second


_PAIRS, _DIGITS = _pairs()


def times(text: pl.Series) -> Times:
    """The date and time (datetime64[us], NaT where there is none) in the head of each text."""
    head = text.str.slice(0, HEAD_CHARS).rename("head")
    stamped = head.str.contains(f"{_ISO}|{_US}")
    out = np.full(len(head), np.datetime64("NaT", "us"))
    if stamped.any():
        out[stamped.to_numpy()] = head.filter(stamped).to_frame().select(_time(pl.col("head"))).to_series().to_numpy()
    return out


@dataclass
class Clock:
    """The time of rows without a stamp: that of the last stamp before them, at most MAX_ROWS_BELOW rows back. It passes
    from batch to batch: `row` is the row of the last stamp in the file (None: there is none), `time` its value (µs).
    """

    row: int | None = None
    time: int = 0

    def at(self, time: Times, rows: NDArray[np.int64], first: int) -> Times:
        """The times of the given rows of a batch; `time` has the stamps of all its rows, `first` is the number of its
        first row.
        """
        found = np.full(len(rows), np.datetime64("NaT", "us"))
        stamped = np.flatnonzero(~np.isnat(time))
        before = np.searchsorted(stamped, rows, side="right") - 1
        if self.row is not None:
            found[(before < 0) & (rows - (self.row - first) <= MAX_ROWS_BELOW)] = np.datetime64(self.time, "us")
        known = np.flatnonzero(before >= 0)
        last = stamped[before[known]]
        close = rows[known] - last <= MAX_ROWS_BELOW
        found[known[close]] = time[last[close]]
        return found

    def go_on(self, time: Times, first: int) -> None:
        """Remember the last stamp of a batch."""
        last = len(time) - 1 - int(np.argmin(np.isnat(time)[::-1]))
        if len(time) and not np.isnat(time[last]):
            self.row, self.time = first + last, int(time[last].astype(np.int64))


def column(text: str) -> int | None:
    """The column where a stamp like 2024-05-01 10:00:02 begins; None where there is none, or text before it is not
    ASCII.
    """
    found = _FIXED.search(text[:HEAD_CHARS])
    return found.start() if found and text[:HEAD_CHARS].isascii() else None


def fixed(data: bytes, at: NDArray[np.int64]) -> Times:
    """The stamps that begin at the places `at` of `data`, NaT where there is none."""
    time = np.empty(len(at), "M8[us]")
    if len(at) and int(at.max()) > len(data) - _STAMP_BYTES:
        data += b"\n" * _STAMP_BYTES
    places = np.ndarray(max(len(data) - _STAMP_BYTES + 1, 0), f"V{_STAMP_BYTES}", data, strides=(1,))
    for k in range(0, len(at), _STAMPS_AT_ONCE):
        time[k : k + _STAMPS_AT_ONCE] = _read(places[at[k : k + _STAMPS_AT_ONCE]])
    return time


def _read(text: NDArray[np.void]) -> Times:
    """The stamps at the beginning of pieces of text (_STAMP_BYTES bytes)."""
    head, minute, tail, _ = text.view("<u8").reshape(-1, 4).T
    second = tail & np.uint64(0xFFFFFF)
    # successive lines share a second: each run is read once
    new = _changes(head, minute, second)
    time = np.repeat(_seconds(head[new], minute[new], second[new]), np.diff(np.append(new, len(text))))
    mark = (tail >> np.uint64(24)).astype(np.uint8)
    going = ((mark == ord(",")) | (mark == ord("."))) & ~np.isnat(time)
    bytes_, micros = text.view(np.uint8), time.view(np.int64)
    for place, unit in zip(_FRACTION_COLUMNS, _FRACTION_UNITS, strict=True):
        digit = bytes_[place::_STAMP_BYTES] - np.uint8(ord("0"))
        going &= digit <= 9
        if not going.any():
            break
        micros += (digit * going.view(np.uint8)) * unit
    return time


def _changes(*words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where any word differs from the one before; the first counts."""
    changed = np.ones(len(words[0]), bool)
    changed[1:] = words[0][1:] != words[0][:-1]
    for word in words[1:]:
        changed[1:] |= word[1:] != word[:-1]
    return np.flatnonzero(changed)


def _seconds(head: NDArray[np.uint64], minute: NDArray[np.uint64], second: NDArray[np.uint64]) -> Times:
    """The time of each date and minute (eight bytes each) and second (three), NaT where it is not valid."""
    date = minute & np.uint64(0xFFFF)
    new = _changes(head, date)
    days = np.stack([head[new], date[new]], axis=1)
    begun = np.array([_day(day.tobytes()[:10]) for day in days], "M8[us]")
    past, valid = np.zeros(len(head), np.int64), np.isin(minute >> np.uint64(16) & np.uint64(255), _SEPARATORS)
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
    """The day in a text like 2024-05-01, NaT where there is none."""
    try:
        found = _DAY.fullmatch(text.decode())
        return np.datetime64("{}-{}-{}".format(*found.groups()), "us") if found else np.datetime64("NaT", "us")
    except ValueError:
        return np.datetime64("NaT", "us")


def _time(text: pl.Expr) -> pl.Expr:
    """The time in each text, of either form."""
    iso, us = text.str.extract_groups(_ISO), text.str.extract_groups(_US)

    def stamp(groups: pl.Expr, year: str, month: str, day: str) -> pl.Expr:
        part = groups.struct.field
        date = pl.concat_str([part(year), part(month), part(day)], separator="-")
        fraction = part("5").fill_null("0").str.pad_end(6, "0")
        return pl.concat_str([date, pl.lit(" "), part("4"), pl.lit("."), fraction])

    written = pl.coalesce(stamp(iso, "1", "2", "3"), stamp(us, "3", "1", "2"))
    return written.str.to_datetime("%Y-%m-%d %H:%M:%S%.6f", strict=False, time_unit="us").cast(Time)
