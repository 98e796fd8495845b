"""The time that stands in the head of a log line, as written: logs rarely name a zone, so it is taken as UTC."""

import re
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Time

WITHIN = 120  # characters at the head of a line where its time stands
_ISO = r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T _-]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
_US = r"([0-9]{2})/([0-9]{2})/([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
_FIXED = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _-][0-9]{2}:[0-9]{2}:[0-9]{2}")
_MINUTE = re.compile(r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T _-]([0-9]{2}:[0-9]{2})")
_LONGEST = 27  # bytes, with six digits of a fraction

Times = NDArray[np.datetime64]


def times(text: pl.Series) -> Times:
    """The date and time (datetime64[us], NaT where there is none) in the head of each text."""
    head = text.str.slice(0, WITHIN).rename("head")
    stamped = head.str.contains(f"{_ISO}|{_US}")
    out = np.full(len(head), np.datetime64("NaT", "us"))
    if stamped.any():
        out[stamped.to_numpy()] = head.filter(stamped).to_frame().select(_time(pl.col("head"))).to_series().to_numpy()
    return out


def column(text: str) -> int | None:
    """Where a stamp like 2024-05-01 10:00:02 begins in a line, None where there is none (or perhaps not in bytes)."""
    found = _FIXED.search(text[:WITHIN])
    return found.start() if found and text[:WITHIN].isascii() else None


def fixed(data: bytes, at: NDArray[np.int64]) -> Times:
    """The stamps that begin at the places `at` of `data`, NaT where what stands there is none."""
    if not len(at):
        return np.empty(0, "M8[us]")
    if int(at.max()) > len(data) - _LONGEST:
        data += b"\n" * _LONGEST
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # eight bytes from each place on
    head, minute, tail, rest = (words[at + k] for k in (0, 8, 16, 19))
    # lines of one minute follow one another: the date and minute of each such run are read once
    new = np.flatnonzero(
        np.diff(minute, prepend=~minute[:1]).astype(bool) | np.diff(head, prepend=head[:1]).astype(bool)
    )
    told = np.stack([head[new], minute[new]], axis=1)
    begun = np.array([_minute(pair.tobytes()) for pair in told], "M8[us]")
    base = np.repeat(begun, np.diff(np.append(new, len(at))))

    def digit(word: NDArray[np.uint64], k: int) -> NDArray[np.int64]:
        return ((word >> np.uint64(8 * k)) & np.uint64(255)).astype(np.int64) - ord("0")

    tens, ones = digit(tail, 1), digit(tail, 2)
    valid = (digit(tail, 0) == 10) & (tens >= 0) & (tens < 6) & (ones >= 0) & (ones <= 9)
    mark = digit(rest, 0)
    going, micros = (mark == ord(",") - ord("0")) | (mark == ord(".") - ord("0")), np.zeros(len(at), np.int64)
    for k, unit in enumerate((100_000, 10_000, 1000, 100, 10, 1), 1):
        place = digit(rest, k)
        going = going & (place >= 0) & (place <= 9)
        if not going.any():
            break
        micros += np.where(going, place * unit, 0)
    time = base + ((tens * 10 + ones) * 1_000_000 + micros).astype("m8[us]")
    return np.where(valid, time, np.datetime64("NaT", "us"))


@lru_cache(maxsize=100_000)
def _minute(text: bytes) -> np.datetime64:
    """What stands like 2024-05-01 10:00, NaT where it is none."""
    try:
        found = _MINUTE.fullmatch(text.decode())
        return np.datetime64("{}-{}-{}T{}".format(*found.groups()), "us") if found else np.datetime64("NaT", "us")
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
