"""Lines of JSON that are alike but for their values, read by polars at once.

Such a line is constant pieces (keys, braces, the quotes of texts) around values: a `Shape`, which the JSON parser finds
in one line. In each other line the pieces are looked for at its quotes; where all are there, byte for byte, they
become the separators of a table. Lines that differ in anything else are left to the parser.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from loganalyst.sources.flatten import Leaf
from loganalyst.sources.rows.jsonshape import loaded

FEWEST = 32  # lines; with less the parser is as fast
_MOST_SHAPES = 8  # tried in one block
_MOST_VALUES = 2000
_ROOM = 8 << 10  # bytes
_LONGEST = 1000  # bytes of a number: Python's int() refuses thousands of digits
_TOKEN = re.compile(rb'"[^"]*"(\s*:)?|[-0-9NItfn][^\s,}\]]*')
_SEP = 0x1F  # JSON has control characters only as escapes
_WORDS = ("null", "true", "false")  # no numbers

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Values = Callable[[Mapping[str, Any]], Iterator[tuple[str, Leaf]]]


def _openings() -> Bytes:
    """By the first two bytes of a value (little-endian): 1 where a number or word of JSON may begin so, 2 where it must
    be looked at closer, else 0 (-0 alone is an int, and so without a sign). The
    other bytes are polars' to refuse.
    """
    table = np.zeros((256, 256), np.uint8)  # second, first
    table[:, list(b"123456789")] = 1
    table[list(b".eE,}] \r\n"), ord("0")] = 1
    table[list(b"123456789"), ord("-")] = 1
    for word in (b"nu", b"tr", b"fa"):
        table[word[1], word[0]] = 1
    for word in (b"-0", b"Na", b"In", b"-I"):
        table[word[1], word[0]] = 2
    return table.ravel()


def _endings() -> Mask:
    table = np.zeros(256, np.bool_)
    table[list(b"0123456789yNle")] = True  # Infinity, NaN, null, true, false
    return table


_OPENINGS, _ENDINGS = _openings(), _endings()
_THREE = np.uint64(0xFFFFFF)  # bytes
_SHORT = np.array([int.from_bytes(word, "little") for word in (b"-0.", b"-0e", b"-0E", b"NaN")], np.uint64)
_LONG = np.array([int.from_bytes(word, "little") for word in (b"Infinity", b"-Infinit")], np.uint64)


@dataclass(frozen=True)
class Wide:
    """Lines of one shape: their places among the lines of a block; a column of Float64 or of texts a value."""

    rows: Ints
    columns: Mapping[str, pl.Series]


class _Lines:
    """A block's bytes, which may be overwritten, and where its lines and quotes are."""

    def __init__(self, data: bytes) -> None:
        buffer = bytearray(data if data.endswith(b"\n") else data + b"\n")
        self.size = len(buffer)
        buffer += bytes(_ROOM)  # a piece that is looked for at a wrong place is looked for in here
        self.bytes: Bytes = np.frombuffer(buffer, np.uint8)
        self.words: npt.NDArray[np.uint64] = np.ndarray(
            len(buffer) - 7, "<u8", buffer, 0, (1,)
        )  # eight bytes from each
        self.pairs: npt.NDArray[np.uint16] = np.ndarray(len(buffer) - 1, "<u2", buffer, 0, (1,))
        self.ends: Ints = np.flatnonzero(self.bytes == ord("\n"))
        self.begins: Ints = np.append(0, self.ends[:-1] + 1)
        self.quotes: Ints = np.flatnonzero(self.bytes == ord('"'))
        self.first_quote: Ints = np.searchsorted(self.quotes, self.begins)
        self.quoted: Ints = np.diff(self.first_quote, append=len(self.quotes))

    def line(self, row: int) -> bytes:
        return self.bytes[self.begins[row] : self.ends[row]].tobytes()

    def has(self, piece: bytes, at: Ints) -> Mask:
        """Whether the piece stands at each of some places."""
        held = np.ones(len(at), np.bool_)
        for i, part in _parts(piece):
            found = self.words[at + i if i else at]
            if len(part) < 8:
                found &= np.uint64((1 << 8 * len(part)) - 1)
            held &= found == np.uint64(int.from_bytes(part, "little"))
        return held

    def write(self, piece: bytes, at: Ints) -> None:
        for i, part in _parts(piece):
            if len(part) == 8:
                self.words[at + i] = int.from_bytes(part, "little")
            else:
                for k, byte in enumerate(part):
                    self.bytes[at + i + k] = byte

    def only(self, rows: Ints) -> bytes:
        """The bytes of some lines."""
        if len(rows) == len(self.ends):
            return self.bytes[: self.size].tobytes()
        wanted = np.zeros(len(self.ends), np.bool_)
        wanted[rows] = True
        return self.bytes[: self.size][np.repeat(wanted, self.ends - self.begins + 1)].tobytes()


def _parts(piece: bytes) -> Iterator[tuple[int, bytes]]:
    """The piece in eights; the last one reaches back where the piece is long enough."""
    for i in range(0, len(piece), 8):
        begin = max(min(i, len(piece) - 8), 0)
        yield begin, piece[begin : begin + 8]


@dataclass(frozen=True)
class Shape:
    """What stands before each value and, at last, behind all; the values' names, and which are texts."""

    pieces: Sequence[bytes]
    names: Sequence[str]
    text: Sequence[bool]

    @classmethod
    def of(cls, line: bytes, values: Values) -> "Shape | None":
        """The shape of a line; `values` gives the names and values of an object. None where it has none."""
        held = [match for match in _TOKEN.finditer(line) if not match[1]]
        record = loaded(line.decode())
        if not isinstance(record, dict) or "config" in record or not 0 < len(held) <= _MOST_VALUES:
            return None
        names = [name for name, _ in values(record)]
        if len(names) != len(held) or len({*names}) != len(names):
            return None
        text = [match[0].startswith(b'"') for match in held]
        begins = [match.start() + is_text for match, is_text in zip(held, text, strict=True)]
        ends = [match.end() - is_text for match, is_text in zip(held, text, strict=True)]
        pieces = [line[a:b] for a, b in zip([0, *ends], [*begins, len(line)], strict=True)]
        if any(b'"' not in piece for piece in pieces[:-1]) or max(map(len, pieces)) > _ROOM - 8:
            return None
        return cls(pieces, names, text)

    @property
    def quotes(self) -> int:
        """How many a line has."""
        return sum(piece.count(b'"') for piece in self.pieces)

    def read(self, lines: _Lines, rows: Ints) -> Wide | None:
        """The values of those of `rows` (each has as many quotes) that have this shape; None where there are none."""
        places, fits = self._places(lines, rows)
        if not fits.all():
            rows, places = rows[fits], [at[fits] for at in places]
        if not len(rows):
            return None
        for i, (piece, at) in enumerate(zip(self.pieces, places, strict=True)):
            lines.write(self._blank(i, piece), at)
        data = lines.only(rows)[: -len(self.pieces[-1])]
        if _bare_point(data):
            return None
        frame = self._frame(data, None)
        if frame is None:
            first = len(self.pieces[0])
            blanks = {first, first + len(self.pieces[-1]), *(len(piece) - 1 for piece in self.pieces[1:-1])}
            frame = self._frame(data, [" " * n + word for n in sorted(blanks) for word in _WORDS])
        if frame is None or frame.height != len(rows):
            return None
        cells = zip(self.names, self.text, frame, strict=True)
        columns = {n: c.str.strip_chars_start(" ").str.slice(1) if t else c for n, t, c in cells}
        return Wide(rows, columns)

    def _places(self, lines: _Lines, rows: Ints) -> tuple[list[Ints], Mask]:
        """Where the pieces of each line are, and whether they and the openings of the numbers are as they must be."""
        places, quote = [], lines.first_quote[rows]
        for piece in self.pieces[:-1]:
            places.append(lines.quotes[quote] - piece.index(b'"'))
            quote = quote + piece.count(b'"')
        places.append(lines.ends[rows] - len(self.pieces[-1]))
        fits = places[0] == lines.begins[rows]
        for piece, at in zip(self.pieces, places, strict=True):
            fits &= lines.has(piece, at)
        for i, is_text in enumerate(self.text):
            begin, end = places[i] + len(self.pieces[i]), places[i + 1]
            fits &= (end >= begin) if is_text else _numbers(lines, begin, end)
        return places, fits

    def _blank(self, i: int, piece: bytes) -> bytes:
        """What takes a piece's place: a separator and blanks, for the last one and the end of the line an end and
        blanks. A text keeps its first quote, so that it is no word.
        """
        if i == len(self.text):
            return b"\n" + b" " * len(piece)
        separator = bytes([_SEP]) if i else b""
        quote = b'"' if self.text[i] else b""
        return separator + b" " * (len(piece) - len(separator) - len(quote)) + quote

    def _frame(self, data: bytes, absent: list[str] | None) -> pl.DataFrame | None:
        schema = {str(i): pl.String if is_text else pl.Float64 for i, is_text in enumerate(self.text)}
        try:
            return pl.read_csv(
                data, has_header=False, separator=chr(_SEP), quote_char=None, schema=schema, null_values=absent
            )
        except pl.exceptions.PolarsError:
            return None


def read(data: bytes, values: Values) -> tuple[list[Wide], Ints]:
    """The lines of a block (UTF-8) by shape, and the places among its lines of those that have none."""
    lines = _Lines(data)
    left, odd = np.arange(len(lines.ends)), [0] * 0
    found: list[Wide] = []
    breaks = len(left) + (data.count(b"\r\n") if b"\r" in data else 0)
    if b"\\" in data or np.count_nonzero(lines.bytes[: lines.size] < 32) != breaks:
        return [], left
    for _ in range(_MOST_SHAPES):
        if len(left) < FEWEST:
            break
        shape = Shape.of(lines.line(left[0]), values)
        wide = shape.read(lines, left[lines.quoted[left] == shape.quotes]) if shape else None
        if wide is None:
            odd.append(int(left[0]))
            left = left[1:]
        else:
            found.append(wide)
            left = np.setdiff1d(left, wide.rows, assume_unique=True)
    return found, np.concatenate([np.array(odd, np.int64), left])


def _numbers(lines: _Lines, begin: Ints, end: Ints) -> Mask:
    """Whether what stands from each `begin` to `end` may be a number, or null, true or false, as JSON spells them."""
    opening = _OPENINGS[lines.pairs[begin]]
    fits = _ENDINGS[lines.bytes[end - 1]]
    fits &= opening != 0
    fits &= (end - begin - 1).view(np.uint64) < _LONGEST  # which a negative one is not
    closer = np.flatnonzero(opening == 2)
    if len(closer):
        words = lines.words[begin[closer]]
        short = words & _THREE
        fits[closer] &= np.logical_or.reduce([*(short == word for word in _SHORT), *(words == word for word in _LONG)])
    return fits


def _bare_point(data: bytes) -> bool:
    """Whether a point stands between a digit and an exponent (``1.e5``), which is no JSON."""
    found = np.frombuffer(data, np.uint8)
    for letter in b"eE":
        if letter in data:
            places = np.flatnonzero(found == letter)
            places = places[found[places - 1] == ord(".")] - 2
            if ((found[places] >= ord("0")) & (found[places] <= ord("9"))).any():
                return True
    return False
