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
_MISSES = 3  # layouts of fewer lines than LEAST: the lines are too different
_ZERO = ord("0")
_INNER = 0x80  # the least byte of a character that is not ASCII; with the next bit it is the first of its character
_EXACT = 15  # digits of a whole number that a Float64 holds, and below
_POWERS = 10.0 ** np.arange(23)  # those that a Float64 holds: one division by them rounds like the decimal text
_LONG = 19 if np.finfo(np.longdouble).nmant >= 63 else _EXACT  # digits that a longdouble holds: 64 bits
_LONG_POWERS = np.cumprod([1, *[10] * 27], dtype=np.longdouble)
_NUMBER = re.compile(r"([-+]?)(\d*)(?:(\.)(\d*))?(?:[eE]([-+]?)(\d+))?", re.ASCII)

Rows = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
_Floats = NDArray[np.floating[Any]]  # or of long doubles


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

    def read(self, lines: Bytes, digits: Iterator[Bytes]) -> Floats:
        """The number in each line; `digits` are those in the columns of all fields, column by column."""
        if self.constant is not None:
            return np.full(len(lines), self.constant)
        own, raised = ([next(digits) for _ in columns] for columns in (self.digits, self.exponent))
        if len(own) > _LONG or len(raised) > 2:
            value = np.abs(self._parsed(lines))
        elif raised or len(own) > _EXACT:
            power = self.sign * _whole(raised).astype(np.int64) if raised else np.zeros(len(lines), np.int64)
            value = self._raised(own, power - self.places, lines)
        else:
            value = _whole(own)
            value /= _POWERS[self.places]
        return -value if self.negative else value

    def _raised(self, digits: Sequence[Bytes], power: Rows, lines: Bytes) -> Floats:
        """The whole number that digits make, times a power of ten."""
        long = len(digits) > _EXACT
        whole: _Floats = _long(digits) if long else _whole(digits)
        powers: _Floats = _LONG_POWERS if long else _POWERS
        far, down = np.abs(power) >= len(powers), power < 0
        by = powers[np.where(far, 0, np.abs(power))]
        exact = whole / by if down.all() else np.where(down, whole / by, whole * by)
        value = exact.astype(np.float64, copy=False)
        one_by_one = far | _halfway(exact, value) if long else far
        if one_by_one.any():
            value[one_by_one] = np.abs(self._parsed(lines[one_by_one]))
        return value

    def _parsed(self, lines: Bytes) -> Floats:
        """The same one by one."""
        text = np.ascontiguousarray(lines[:, self.start : self.end])
        return text.view(f"S{self.end - self.start}").ravel().astype(np.float64)


@dataclass(frozen=True)
class _Layout:
    """A line by column: the least byte that lines like it have there, and how much above it others may be (a digit
    where any may stand: "0", and 9 above; where a bar is drawn any byte that is not ASCII); its numbers.
    """

    least: Bytes
    room: Bytes
    fields: tuple[_Field, ...]

    @classmethod
    def of(cls, line: Bytes, form: re.Pattern[str]) -> "_Layout | None":
        """That of a line; None where the form does not match."""
        text = line.tobytes().decode()
        hit = form.fullmatch(text)
        if not hit:
            return None
        place = np.arange(len(text) + 1)
        if not text.isascii():
            place = np.append(np.flatnonzero(line & 0xC0 != _INNER), len(line))
        least, room = line.copy(), np.zeros_like(line)
        for k in range(1, len(hit.groups()) + 1):
            start, end = place[list(hit.span(k))]
            digits, drawn = line[start:end] - np.uint8(_ZERO) <= 9, line[start:end] >= _INNER
            least[start:end][digits], room[start:end][digits] = _ZERO, 9
            least[start:end][drawn], room[start:end][drawn] = _INNER, _INNER - 1
        numbers = sorted(set(range(1, len(hit.groups()) + 1)) - set(form.groupindex.values()))
        return cls(least, room, tuple(_Field.of(hit[k], int(place[hit.start(k)])) for k in numbers))

    def fits(self, lines: Bytes) -> NDArray[np.bool_]:
        """Which lines, as long as this one, have this layout."""
        other = lines - self.least > self.room
        return np.asarray(~other.any(axis=1)) if other.any() else np.ones(len(lines), bool)

    def numbers(self, lines: Bytes) -> Iterator[Floats]:
        """Those in lines that have this layout, field by field."""
        columns = [column for one in self.fields for column in (*one.digits, *one.exponent)]
        digits = iter(lines.T[columns] - np.uint8(_ZERO))
        return (one.read(lines, digits) for one in self.fields)


def read(data: bytes, starts: Rows, lengths: Rows, form: re.Pattern[str]) -> tuple[NDArray[np.bool_], list[Floats]]:
    """Which lines of one form are read, and of those the number (float64) of each slot.

    The lines begin at `starts` of `data`. Named groups of `form` are times and bars: digits that are no numbers, and
    blocks. Those not read may have the form, too.
    """
    slots = [np.empty(len(starts)) for _ in range(form.groups - len(form.groupindex))]
    taken = np.zeros(len(starts), bool)
    order = np.argsort(_narrow(lengths), kind="stable")
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
    misses = 0
    while len(lines) >= LEAST and misses < _MISSES:
        layout = _Layout.of(lines[len(lines) // 2], form)
        same = layout.fits(lines) if layout else np.arange(len(lines)) == len(lines) // 2
        whole = same.all()
        if layout:
            found, at = (lines, rows) if whole else (lines[same], rows[same])
            taken[at] = True
            for slot, number in zip(slots, layout.numbers(found), strict=True):
                slot[at] = number
        misses += bool(np.count_nonzero(same) < LEAST)
        lines, rows = (lines[:0], rows[:0]) if whole else (lines[~same], rows[~same])


def _narrow(numbers: Rows) -> NDArray[np.integer[Any]]:
    """The same in 16 bits where they are small: those are sorted by counting."""
    return numbers.astype(np.uint16) if len(numbers) and numbers.max() < 1 << 16 else numbers


def _whole(digits: Sequence[Bytes]) -> Floats:
    """The whole number that digits (at most _EXACT) make; every sum on the way is exact."""
    value = digits[0].astype(np.float64) if digits else np.zeros(0)
    for digit in digits[1:]:
        value *= 10
        value += digit
    return value


def _long(digits: Sequence[Bytes]) -> _Floats:
    """The same of more digits (at most _LONG)."""
    high, low = (_whole(part).astype(np.uint64) for part in (digits[:-_EXACT], digits[-_EXACT:]))
    return (high * np.uint64(10**_EXACT) + low).astype(np.longdouble)


def _halfway(values: _Floats, rounded: Floats) -> NDArray[np.bool_]:
    """Which values lie half way between two doubles (below a power of two those are nearer by half): a first rounding
    may have brought them there, so `rounded` may be another than the decimal text's.
    """
    off, gap = np.abs(values - rounded).astype(np.float64), np.spacing(rounded)
    return np.asarray((off == gap / 2) | (off == gap / 4))
