"""Lines that are the same but for digits: their numbers are read column by column, not line by line.

A logger prints a number mostly as wide as the one before. Where the lines of one form are as long as one another and
differ in digits only, one of them is taken apart by the form's regex, and tells where the digits of all stand.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 64  # lines that are worth a layout
PIECE = 4096  # lines at once: they stay in the processor's cache
_SHARE = 4  # a layout that fewer than one of so many lines have: they are too different
_ZERO = ord("0")
_EXACT = 15  # digits of a whole number that a Float64 holds, and below
_POWERS = 10.0 ** np.arange(23)  # those that a Float64 holds: one division by them rounds like the decimal text
_NUMBER = re.compile(r"([-+]?)(\d*)(\.?)(\d*)(?:[eE]([-+]?)(\d+))?", re.ASCII)

Rows = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Field:
    """A number from column `start` to `end`: columns of its digits and how many are behind the point; the columns of
    its exponent, and that one's sign. `constant` where it is nan or inf.
    """

    start: int
    end: int
    digits: tuple[int, ...] = ()
    places: int = 0
    exponent: tuple[int, ...] = ()
    sign: int = 1
    negative: bool = False
    constant: float | None = None

    @classmethod
    def of(cls, text: str, start: int) -> "_Field":
        """What stands in a line at `start`."""
        hit = _NUMBER.fullmatch(text)
        if not hit:
            return cls(start, start + len(text), constant=float(text))
        whole, part, power = (range(start + hit.start(k), start + hit.end(k)) for k in (2, 4, 6))
        negative, sign = hit[1] == "-", -1 if hit[5] == "-" else 1
        digits, exponent = (*whole, *part), tuple(power) if hit[6] else ()
        return cls(start, start + len(text), digits, len(part), exponent, sign, negative)

    def read(self, lines: Bytes, digits: Iterator[Floats]) -> Floats:
        """The number in each line; `digits` are those in the columns of all fields, column by column."""
        if self.constant is not None:
            return np.full(len(lines), self.constant)
        value, power = (_whole([next(digits) for _ in columns]) for columns in (self.digits, self.exponent))
        if len(self.digits) > _EXACT or len(self.exponent) > 2:
            return self._parsed(lines)
        if not self.exponent:
            value /= _POWERS[self.places]
        else:
            value = self._raised(value, self.sign * power.astype(np.int64) - self.places, lines)
        return -value if self.negative else value

    def _raised(self, value: Floats, power: Rows, lines: Bytes) -> Floats:
        """The value times a power of ten."""
        far = np.abs(power) >= len(_POWERS)
        if far.any():
            power = np.where(far, 0, power)
        by = _POWERS[np.abs(power)]
        value = np.where(power < 0, value / by, value * by)
        if far.any():
            value[far] = np.abs(self._parsed(lines[far]))
        return value

    def _parsed(self, lines: Bytes) -> Floats:
        """The same one by one."""
        text = np.ascontiguousarray(lines[:, self.start : self.end])
        return text.view(f"S{self.end - self.start}").ravel().astype(np.float64)


@dataclass(frozen=True)
class _Layout:
    """A line by column: the least byte that lines like it have there, and how much above it others may be (a digit
    where any may stand: "0", and 9 above); its numbers.
    """

    least: Bytes
    room: Bytes
    fields: tuple[_Field, ...]

    @classmethod
    def of(cls, line: Bytes, form: re.Pattern[str]) -> "_Layout | None":
        """That of a line; None where the form does not match."""
        text = line.tobytes().decode("latin-1")
        hit = form.fullmatch(text)
        if not hit or not text.isascii():
            return None
        varied = np.zeros(len(line), bool)
        for k in range(1, len(hit.groups()) + 1):
            varied[slice(*hit.span(k))] = True
        numbers = sorted(set(range(1, len(hit.groups()) + 1)) - set(form.groupindex.values()))
        fields = tuple(_Field.of(hit[k], hit.start(k)) for k in numbers)
        free = varied & (line - np.uint8(_ZERO) <= 9)
        return cls(np.where(free, np.uint8(_ZERO), line), np.where(free, np.uint8(9), np.uint8(0)), fields)

    def fits(self, lines: Bytes) -> NDArray[np.bool_]:
        """Which lines, as long as this one, have this layout."""
        other = lines - self.least > self.room
        return np.asarray(~other.any(axis=1)) if other.any() else np.ones(len(lines), bool)

    def numbers(self, lines: Bytes) -> Iterator[Floats]:
        """Those in lines that have this layout, field by field."""
        columns = [column for one in self.fields for column in (*one.digits, *one.exponent)]
        digits = iter(np.subtract(lines.T[columns], _ZERO, dtype=np.float64))
        return (one.read(lines, digits) for one in self.fields)


def read(data: bytes, starts: Rows, lengths: Rows, form: re.Pattern[str]) -> tuple[NDArray[np.bool_], list[Floats]]:
    """Which lines of one form are read, and of those the number (float64) of each slot.

    The lines begin at `starts` of `data`. Named groups of `form` are digits that are no numbers. Those not read may
    have the form, too.
    """
    slots = [np.empty(len(starts)) for _ in range(form.groups - len(form.groupindex))]
    taken = np.zeros(len(starts), bool)
    order = np.argsort(
        lengths.astype(np.uint16) if len(lengths) and lengths.max() < 1 << 16 else lengths, kind="stable"
    )
    bounds = np.flatnonzero(np.diff(lengths[order], prepend=-1, append=-1)).tolist()
    for first, last in pairwise(bounds):
        length = int(lengths[order[first]])
        places = np.ndarray(max(len(data) - length + 1, 0), f"V{length}", data, strides=(1,)) if length else data
        for k in range(first, last if length else first, PIECE):
            rows = order[k : min(k + PIECE, last)]
            if len(rows) >= LEAST:
                lines = np.asarray(places)[starts[rows]].view(np.uint8).reshape(-1, length)
                _read_piece(lines, rows, form, taken, slots)
    return taken, [slot[taken] for slot in slots]


def _read_piece(lines: Bytes, rows: Rows, form: re.Pattern[str], taken: NDArray[np.bool_], slots: list[Floats]) -> None:
    """Lines of one length, layout by layout, into `taken` and `slots` at `rows`."""
    while len(lines) >= LEAST:
        layout = _Layout.of(lines[0], form)
        same = layout.fits(lines) if layout else np.zeros(len(lines), bool)
        if not layout or np.count_nonzero(same) * _SHARE < len(lines):
            return
        whole = same.all()
        found, at = (lines, rows) if whole else (lines[same], rows[same])
        taken[at] = True
        for slot, number in zip(slots, layout.numbers(found), strict=True):
            slot[at] = number
        lines, rows = (lines[:0], rows[:0]) if whole else (lines[~same], rows[~same])


def _narrow(numbers: Rows) -> NDArray[np.integer[Any]]:
    """The same in 16 bits where they are small: those are sorted by counting."""
    return numbers.astype(np.uint16) if len(numbers) and numbers.max() < 1 << 16 else numbers


def _whole(digits: Sequence[Floats]) -> Floats:
    """The whole number that digits (at most _EXACT) make; every sum on the way is exact."""
    value = digits[0].copy() if digits else np.zeros(0)
    for digit in digits[1:]:
        value *= 10
        value += digit
    return value
