"""Delimited text as rows of cells, and cells as numbers."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import polars as pl

from loganalyst.sources.files.lineblocks import Block

# cells without a value (`nan` is one); GaNDLF ends its rows with a backspace
ABSENT = ("", "-", "--", "none", "null", "na", "n/a", "<na>", "\b")
# how old Visual C++ runtimes print NaN and infinity
_WINDOWS = {"1.#inf": "inf", "-1.#inf": "-inf", "1.#qnan": "nan", "-1.#qnan": "nan", "1.#ind": "nan", "-1.#ind": "nan"}
_UNIT = "\x1f"  # ASCII's unit separator joins cells on their way to polars: 30 times faster than passing lists
_LINES = {"line": pl.Int64, "cells": pl.String}
_ASIDE = re.compile(r"#|^[^\S\n]*$", re.MULTILINE)  # a comment (`# seed 1`) or a blank line
_NUMBER = r"\s*([-+0-9.eE]+|nan|-?inf)\s*"  # 0.5, 1e-4, -inf
_WRAPPED = (rf"^tensor\({_NUMBER}[,)]", rf"^\[{_NUMBER}\]$")  # tensor(0.5, device='cuda:0'); [0.5] but not [0.5, 1]
_ODD = pl.col("odd").str
_SIGNS = ["1.#", "tensor(", "["]  # a cell without any of these holds no wrapped number
# units that people write behind numbers; `k` and `M` are none of these, because they change the number
_UNITS = (
    r"%|[nuµm]?s|secs?|seconds?|mins?|h|hrs?|[KMGT]i?B|[WJ]|°?C|(?:(?:its?|steps?|img|images?|samples?|tok|tokens?)/s)"
    r"|s/(?:it|iter|step|batch|epoch)"
)
_WITH_UNIT = rf"^([-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)\s?({_UNITS})$"  # 45.2%, 12.3s, 4.2 GB
_MEANT = (_ODD.to_lowercase().replace(_WINDOWS), *map(_ODD.extract, _WRAPPED))  # how to read an odd cell


class Rows(msgspec.Struct, frozen=True):
    """Whole rows by column: the line each begins in, its cells, and its cells as Float64 (NULL: not a number).

    `texts` holds a column of numbers only as numbers.
    """

    lines: pl.Series
    texts: Mapping[str, pl.Series]
    values: Mapping[str, pl.Series]


def separator(lines: Sequence[str]) -> str:
    """The delimiter of some lines, one of ``; , tab |``: the one whose count outside quotes agrees in most lines."""
    bare = ["".join(line.split('"')[::2]) for line in lines]

    def agreement(sep: str) -> tuple[int, int]:
        counts = Counter(n for line in bare if (n := line.count(sep)))
        number, share = counts.most_common(1)[0] if counts else (0, 0)
        return share, number

    # files with decimal commas use semicolons as delimiters, so the semicolon wins a tie
    return max(";,\t|", key=lambda sep: (agreement(sep)[0], sep == ";", agreement(sep)[1]))


def parsed(lines: Sequence[str], sep: str) -> list[list[str]]:
    """The cells of some lines, row by row."""
    return _quoted("\n".join(lines), sep, 1)[1]


def without_margin(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows without the blank cell that a separator at the end of each line leaves.

    >>> without_margin([["loss", ""], ["0.5", ""]]), without_margin([["loss", ""], ["0.5", "1"]])
    ([['loss'], ['0.5']], [['loss', ''], ['0.5', '1']])
    """
    margin = bool(rows) and all(len(row) > 1 and not row[-1].strip() for row in rows)
    return [list(row[:-1] if margin else row) for row in rows]


def rows(block: Block, sep: str) -> tuple[pl.DataFrame, list[int]]:
    """(line, cells) of every row except blanks and comments, and the lines that begin a broken quote."""
    data = block.data.decode("utf-8")
    broken: list[int] = []
    if '"' in data:
        places, found, broken = _quoted(data.replace(_UNIT, " "), sep, block.line)
        frame = pl.DataFrame({"line": places, "cells": map(_UNIT.join, found)}, schema=_LINES)
        frame = frame.with_columns(pl.col("cells").str.split(_UNIT))
    else:
        data = data.removesuffix("\n")
        found_lines = data.split("\n")
        frame = pl.DataFrame(
            {"line": range(block.line, block.line + len(found_lines)), "cells": found_lines}, schema=_LINES
        )
        frame = frame.with_columns(pl.col("cells").str.split(sep))
        if not _ASIDE.search(data):
            return frame, broken
    first = pl.col("cells").list.first().str.strip_chars()
    blank = (pl.col("cells").list.len() == 0) | ((pl.col("cells").list.len() == 1) & (first == ""))
    return frame.filter(~(blank | first.str.starts_with("#"))), broken


def _quoted(data: str, sep: str, line: int) -> tuple[list[int], list[list[str]], list[int]]:
    """Line numbers and cells, by the csv module. After a broken quote, reading goes on in the next line."""
    lines = [f"{row}\n" for row in data.replace("\r\n", "\n").removesuffix("\n").split("\n")]
    places: list[int] = []
    cells: list[list[str]] = []
    broken: list[int] = []
    at = 0
    while at < len(lines):
        begin = at
        reader = csv.reader(
            map(lines.__getitem__, range(at, len(lines))), delimiter=sep, skipinitialspace=True, strict=True
        )
        try:
            for row in reader:
                places.append(line + at)
                cells.append(row)
                at = begin + reader.line_num
        except csv.Error:
            if not lines[at].startswith("#"):
                broken.append(line + at)
            at += 1
    return places, cells, broken


def columns(frame: pl.DataFrame, header: Sequence[str], *, decimal_comma: bool) -> Rows:
    """The cells of (line, cells) by column. Short rows are filled with NULL."""
    cell = pl.col("cells").list
    texts = frame.select([cell.get(i, null_on_oob=True).str.strip_chars().alias(n) for i, n in enumerate(header)])
    some = [column.name for column in texts if column.cast(pl.Float64, strict=False).null_count()]
    if some:  # only these columns can hold one of ABSENT
        texts = texts.with_columns([with_values(pl.col(n)) for n in some])
    values = {column.name: numbers(column, decimal_comma=decimal_comma) for column in texts}
    return Rows(frame["line"], texts.to_dict(), values)


def numbers(column: pl.Series, *, decimal_comma: bool = False) -> pl.Series:
    """Stripped cells as Float64: NULL where a cell is not a number, ±Inf on overflow, NaN for `nan`."""
    if decimal_comma:
        column = column.str.replace(",", ".", literal=True)
    result = column.cast(pl.Float64, strict=False)
    if result.null_count() == column.null_count():
        return result
    odd = pl.DataFrame({"odd": column.filter(result.is_null())}).select(pl.col("odd").unique())
    if odd.select(_ODD.contains(_WITH_UNIT).any()).item():
        meant = _without_unit(odd, result)
    elif odd.select(_ODD.contains_any(_SIGNS).any()).item():
        meant = odd.select(pl.coalesce([text.cast(pl.Float64, strict=False) for text in _MEANT])).to_series()
    else:
        return result
    again = column.replace_strict(odd["odd"], meant, default=None, return_dtype=pl.Float64)
    return result.zip_with(result.is_not_null(), again)


def _without_unit(odd: pl.DataFrame, bare: pl.Series) -> pl.Series:
    """Cells such as `45.2%` as numbers, beside the `bare` numbers of their column. NULL where units differ, because
    1.5GB is not 1.5MB, or where bare numbers may have another unit. Zero, NaN and infinity need none.
    """
    found = odd.select(_ODD.extract(_WITH_UNIT, 1).cast(pl.Float64, strict=False), unit=_ODD.extract(_WITH_UNIT, 2))
    unit, bare = found["unit"].drop_nulls().unique(), bare.drop_nulls()
    alike = len(unit) == 1 and (unit[0] == "%" or not (bare.is_finite() & (bare != 0)).any())
    return found["odd"] if alike else found["odd"].clear(odd.height)


def with_values(column: pl.Expr) -> pl.Expr:
    """The cells with a value: the words of ABSENT become NULL."""
    return pl.when(column.str.to_lowercase().is_in(ABSENT).not_()).then(column)


def numeric(row: Sequence[str]) -> bool:
    """Whether a row has at least one number and nothing but numbers and empty cells."""
    kept = _stripped(row).drop_nulls()
    return len(kept) > 0 and all_numbers(kept.to_list())


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number; faster than `all_numbers` for a few cells."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def all_numbers(row: Sequence[str]) -> bool:
    """Whether every cell of a row is a number."""
    kept = _stripped(row)
    without_units = kept.to_frame("odd").select(pl.coalesce(_ODD.extract(_WITH_UNIT, 1), "odd")).to_series()
    return numbers(without_units).null_count() == 0


def _stripped(row: Sequence[str]) -> pl.Series:
    cells = pl.Series("cell", row, dtype=pl.String).to_frame().select(pl.col("cell").str.strip_chars())
    return cells.select(with_values(pl.col("cell"))).to_series()
