"""Lines that differ only in digits: their numbers are read column by column, not line by line.

A logger mostly prints a number as wide as the one before. If the lines of a form have the same length and differ only
in digits, the form's regex parses one of them. Its match gives the columns of the digits in all lines.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

MIN_LINES = 64  # lines that are worth a layout
LINES_AT_ONCE = 4096  # lines at once: they stay in the processor's cache
MAX_MISSES = 3  # layouts of fewer lines than MIN_LINES: the lines are too different
_ZERO = ord("0")
_NOT_ASCII = 0x80  # the least byte outside ASCII; with the next bit set, it is the first byte of a character
_EXACT_DIGITS = 15  # digits of a whole number that a Float64 holds exactly
_POWERS = 10.0 ** np.arange(23)  # powers of ten that a Float64 holds: one division by them rounds like the decimal text
_LONG_DIGITS = 19 if np.finfo(np.longdouble).nmant >= 63 else _EXACT_DIGITS  # digits that a longdouble holds: 64 bits
_LONG_POWERS = np.cumprod([1, *[10] * 27], dtype=np.longdouble)
# `-1.25e-05`: sign, digits, point, digits, sign and digits of the exponent
_NUMBER = re.compile(r"([-+]?)(\d*)(?:(\.)(\d*))?(?:[eE]([-+]?)(\d+))?", re.ASCII)

Rows = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
_Floats = NDArray[np.floating[Any]]  # or of long doubles


class _Field(msgspec.Struct, frozen=True):
    """A number from column `start` to `end`: the columns of its digits, how many of them are behind the point, the
    columns of its exponent and that one's sign. `constant`: it is nan or inf.
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
    def parse(cls, text: str, start: int) -> "_Field":
        """The field of the text that begins at column `start`."""
        hit = _NUMBER.fullmatch(text)
        if not hit:
            return cls(start, start + len(text), constant=float(text))
        whole, part, power = (range(start + hit.start(k), start + hit.end(k)) for k in (2, 4, 6))
        negative, sign = hit[1] == "-", -1 if hit[5] == "-" else 1
        digits, exponent = (*whole, *part), tuple(power) if hit[6] else ()
        return cls(start, start + len(text), digits, len(part), exponent, sign, negative)

    def read(self, lines: Bytes, digits: Iterator[Bytes]) -> Floats:
        """The number in each line; `digits` yields the digits of all fields, column by column."""
        if self.constant is not None:
            return np.full(len(lines), self.constant)
        mantissa, exponent = ([next(digits) for _ in columns] for columns in (self.digits, self.exponent))
        if len(mantissa) > _LONG_DIGITS or len(exponent) > 2:
            value = np.abs(self._parsed(lines))
        elif exponent or len(mantissa) > _EXACT_DIGITS:
            power = self.sign * _whole(exponent).astype(np.int64) if exponent else np.zeros(len(lines), np.int64)
            value = self._scaled(mantissa, power - self.places, lines)
        else:
            value = _whole(mantissa)
            value /= _POWERS[self.places]
        return -value if self.negative else value

    def _scaled(self, digits: Sequence[Bytes], power: Rows, lines: Bytes) -> Floats:
        """The whole number that the digits make, times a power of ten."""
        long = len(digits) > _EXACT_DIGITS
        whole: _Floats = _whole_long(digits) if long else _whole(digits)
        powers: _Floats = _LONG_POWERS if long else _POWERS
        outside, down = np.abs(power) >= len(powers), power < 0
        by = powers[np.where(outside, 0, np.abs(power))]
        exact = whole / by if down.all() else np.where(down, whole / by, whole * by)
        value = exact.astype(np.float64, copy=False)
        one_by_one = outside | _halfway(exact, value) if long else outside
        if one_by_one.any():
            value[one_by_one] = np.abs(self._parsed(lines[one_by_one]))
        return value

    def _parsed(self, lines: Bytes) -> Floats:
        """The numbers, parsed one by one."""
        text = np.ascontiguousarray(lines[:, self.start : self.end])
        return text.view(f"S{self.end - self.start}").ravel().astype(np.float64)


class _Layout(msgspec.Struct, frozen=True):
    """A line by column: the least byte of similar lines, how far above it a byte may be, and the numbers.

    Where any digit may be, these are "0" and 9; where a bar is drawn, any byte outside ASCII.
    """

    least: Bytes
    room: Bytes
    fields: tuple[_Field, ...]

    @classmethod
    def of_line(cls, line: Bytes, form: re.Pattern[str]) -> "_Layout | None":
        """The layout of a line; None where the form does not match."""
        text = line.tobytes().decode()
        hit = form.fullmatch(text)
        if not hit:
            return None
        place = np.arange(len(text) + 1)
        if not text.isascii():
            place = np.append(np.flatnonzero(line & 0xC0 != _NOT_ASCII), len(line))
        least, room = line.copy(), np.zeros_like(line)
        for k in range(1, len(hit.groups()) + 1):
            start, end = place[list(hit.span(k))]
            digits, drawn = line[start:end] - np.uint8(_ZERO) <= 9, line[start:end] >= _NOT_ASCII
            least[start:end][digits], room[start:end][digits] = _ZERO, 9
            least[start:end][drawn], room[start:end][drawn] = _NOT_ASCII, _NOT_ASCII - 1
        numbers = sorted(set(range(1, len(hit.groups()) + 1)) - set(form.groupindex.values()))
        return cls(least, room, tuple(_Field.parse(hit[k], int(place[hit.start(k)])) for k in numbers))

    def fits(self, lines: Bytes) -> NDArray[np.bool_]:
        """Which lines of the same length have this layout."""
        other = lines - self.least > self.room
        return np.asarray(~other.any(axis=1)) if other.any() else np.ones(len(lines), bool)

    def numbers(self, lines: Bytes) -> Iterator[Floats]:
        """The numbers of lines that have this layout, field by field."""
        columns = [column for field in self.fields for column in (*field.digits, *field.exponent)]
        digits = iter(lines.T[columns] - np.uint8(_ZERO))
        return (field.read(lines, digits) for field in self.fields)


def read(
    data: bytes, starts: Rows, lengths: Rows, form: re.Pattern[str], *, least: int = MIN_LINES, misses: int = MAX_MISSES
) -> tuple[NDArray[np.bool_], list[Floats]]:
    """Which lines of one form are read, and the number (float64) of each slot of those.

    The lines begin at `starts` of `data`. Named groups of `form` are times and bars: digits that are no numbers, and
    blocks. A line that is not read may still have the form. Layouts are made for at least `least` lines; after `misses`
    layouts of fewer lines the others are left.
    """
    slots = [np.empty(len(starts)) for _ in range(form.groups - len(form.groupindex))]
    taken = np.zeros(len(starts), bool)
    order = np.argsort(_narrow(lengths), kind="stable")
    bounds = np.flatnonzero(np.diff(lengths[order], prepend=-1, append=-1)).tolist()
    for first, last in pairwise(bounds):
        length = int(lengths[order[first]])
        places = np.ndarray(max(len(data) - length + 1, 0), f"V{length}", data, strides=(1,)) if length else data
        for k in range(first, last if length else first, LINES_AT_ONCE):
            rows = order[k : min(k + LINES_AT_ONCE, last)]
            if len(rows) >= least:
                lines = np.asarray(places)[starts[rows]].view(np.uint8).reshape(-1, length)
                _read_piece(lines, rows, form, (taken, slots), (least, misses))
    return taken, [slot[taken] for slot in slots]


def _read_piece(
    lines: Bytes,
    rows: Rows,
    form: re.Pattern[str],
    into: tuple[NDArray[np.bool_], list[Floats]],
    limits: tuple[int, int],
) -> None:
    """Read lines of one length, layout by layout, into the arrays `into` at `rows`."""
    (taken, slots), (least, misses) = into, limits
    while len(lines) >= least and misses:
        layout = _Layout.of_line(lines[len(lines) // 2], form)
        same = layout.fits(lines) if layout else np.arange(len(lines)) == len(lines) // 2
        whole = same.all()
        if layout:
            found, at = (lines, rows) if whole else (lines[same], rows[same])
            taken[at] = True
            for slot, number in zip(slots, layout.numbers(found), strict=True):
                slot[at] = number
        misses -= bool(np.count_nonzero(same) < least)
        lines, rows = (lines[:0], rows[:0]) if whole else (lines[~same], rows[~same])


def _narrow(numbers: Rows) -> NDArray[np.integer[Any]]:
    """The same numbers in 16 bits where they fit, because numpy sorts those by counting."""
    return numbers.astype(np.uint16) if len(numbers) and numbers.max() < 1 << 16 else numbers


def _whole(digits: Sequence[Bytes]) -> Floats:
    """The whole number that digits (at most _EXACT_DIGITS) make; every intermediate sum is exact."""
    value = digits[0].astype(np.float64) if digits else np.zeros(0)
    for digit in digits[1:]:
        value *= 10
        value += digit
    return value


def _whole_long(digits: Sequence[Bytes]) -> _Floats:
    """As `_whole`, for more digits (at most _LONG_DIGITS)."""
    high, low = (_whole(part).astype(np.uint64) for part in (digits[:-_EXACT_DIGITS], digits[-_EXACT_DIGITS:]))
    return (high * np.uint64(10**_EXACT_DIGITS) + low).astype(np.longdouble)


def _halfway(values: _Floats, rounded: Floats) -> NDArray[np.bool_]:
    """Which values are half way between two doubles (a quarter of the spacing below a power of two).

    The first rounding may have moved them there; then `rounded` may differ from the decimal text's double.
    """
    off, gap = np.abs(values - rounded).astype(np.float64), np.spacing(rounded)
    return np.asarray((off == gap / 2) | (off == gap / 4))
