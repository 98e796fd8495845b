"""The time that stands in the head of a log line, as written: logs rarely name a zone, so it is taken as UTC."""

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import Time

WITHIN = 120  # characters at the head of a line where its time stands
_ISO = r"([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})[T _-]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
_US = r"([0-9]{2})/([0-9]{2})/([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,6}))?"
_FIXED = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T _-][0-9]{2}:[0-9]{2}:[0-9]{2}")
_DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]  # of a stamp as 2024-05-01 10:00:02
_LONGEST = 26  # with six digits of a fraction

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


def fixed(data: NDArray[np.uint8], at: NDArray[np.int64]) -> Times:
    """The stamps that begin at the places `at` of `data` (bytes), NaT where what stands there is none."""
    padded = np.concatenate([data, np.zeros(_LONGEST, np.uint8)]) if len(at) and at.max() > len(data) - _LONGEST else data
    text = np.lib.stride_tricks.sliding_window_view(padded, _LONGEST)[at]
    digit = text - np.uint8(ord("0"))
    valid = (digit[:, _DIGITS] <= 9).all(1) & (text[:, 13] == ord(":")) & (text[:, 16] == ord(":"))
    valid &= np.isin(text[:, 4], (45, 47)) & np.isin(text[:, 7], (45, 47)) & np.isin(text[:, 10], (32, 45, 84, 95))
    number = digit.astype(np.int64)

    def pair(k: int) -> NDArray[np.int64]:
        return number[:, k] * 10 + number[:, k + 1]

    year, month, day = pair(0) * 100 + pair(2), pair(5), pair(8)
    valid &= (month >= 1) & (month <= 12) & (pair(11) < 24) & (pair(14) < 60) & (pair(17) < 60) & (day >= 1)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype("M8[M]")
    date = months.astype("M8[D]") + np.where(valid, day - 1, 0)
    valid &= date.astype("M8[M]") == months
    seconds = pair(11) * 3600 + pair(14) * 60 + pair(17)
    micros = seconds * 1_000_000 + _fraction(text, number)
    return np.where(valid, date.astype("M8[us]") + micros.astype("m8[us]"), np.datetime64("NaT", "us"))


def _fraction(text: NDArray[np.uint8], number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Microseconds after the seconds: one to six digits behind a point or comma."""
    going = np.isin(text[:, 19], (44, 46))
    micros = np.zeros(len(text), np.int64)
    for k, unit in zip(range(20, 26), (100_000, 10_000, 1000, 100, 10, 1), strict=True):
        going &= (number[:, k] >= 0) & (number[:, k] <= 9)
        if not going.any():
            break
        micros += np.where(going, number[:, k] * unit, 0)
    return micros


def _time(text: pl.Expr) -> pl.Expr:
    iso, us = text.str.extract_groups(_ISO), text.str.extract_groups(_US)

    def stamp(groups: pl.Expr, year: str, month: str, day: str) -> pl.Expr:
        part = groups.struct.field
        date = pl.concat_str([part(year), part(month), part(day)], separator="-")
        fraction = part("5").fill_null("0").str.pad_end(6, "0")
        return pl.concat_str([date, pl.lit(" "), part("4"), pl.lit("."), fraction])

    written = pl.coalesce(stamp(iso, "1", "2", "3"), stamp(us, "3", "1", "2"))
    return written.str.to_datetime("%Y-%m-%d %H:%M:%S%.6f", strict=False, time_unit="us").cast(Time)
