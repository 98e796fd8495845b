"""Files of JSON lines with text between them: metrics as objects, and the errors of the same program as plain text.

The numbers of the objects are read as JSON, and the text is read like any log. For the text the file is copied into a
temporary one (TMPDIR), in which the objects stay as short rows, so that progress behind an error is seen.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.files.rowspool import MAX_HELD_ROWS, Rows, Spool
from loganalyst.sources.formats import formats
from loganalyst.sources.tables.jsonlines import Lines
from loganalyst.sources.text.lines import objectwords, wrapped

MAX_STRING_CHARS = 80  # of an object's text in the copy: longer ones are samples and the like, no words of the job
# `Killed`, `Traceback (most`; no part of an object that was cut, such as `ss": 0.5}` or `, "lr"`
_TEXT = re.compile(rb"\s*(?![\s{\[\"',:\]}\d+.-])[^\n]{0,200}?[A-Za-z]{3}")
# `{"loss": 0.`, `ss": 0.5`, `0.5}`
_DAMAGED_OBJECT = re.compile(rb"\{|[^A-Z][^\n]*(?:\"[ \t]{0,9}:|\}\Z)")
# The end of an object, and text behind it: `0.5}Traceback (most`
_BEHIND_OBJECT = r"^(\s*\{.*\})(\s*[^\s{}\[\]\",:][^{}]*)$"
_BRACE = r"^\s*\{"
_LAST_OBJECTS = 12  # of a file: their words may say how the program ended
_SHORT_OR_LONG = rf'"((?:[^"\\]|\\.){{0,{MAX_STRING_CHARS}}})"|"(?:[^"\\]|\\.)*"'  # a short text is group 1


def is_text(part: bytes) -> bool:
    """Whether a line, or what follows an object in it, is text and no damaged JSON.

    >>> is_text(b"Traceback (most recent call last):"), is_text(b'ss": 0.5}'), is_text(b"[1]")
    (True, False, False)
    """
    return _TEXT.match(part) is not None and not is_damaged(part)


def is_damaged(part: bytes) -> bool:
    """Whether a line, or what follows an object in it, is a part of an object.

    >>> is_damaged(b'{"loss": 0.'), is_damaged(b"~~~~^^^^")
    (True, False)
    """
    return _DAMAGED_OBJECT.match(part.strip()) is not None


def has_text(blocks: Iterable[Lines]) -> bool:
    """Whether the blocks of a file of JSON lines have text between them, an object that reports an error, or words in
    its last objects. Raises OSError.
    """
    last = list[bytes]()
    for lines in blocks:
        if _has_text(lines) or objectwords.reports_error(lines.data):
            return True
        last = [*last, *(lines.line(nth) for nth in range(max(len(lines) - _LAST_OBJECTS, 0), len(lines)))]
    texts = [line.decode("utf-8", "replace") for line in last[-_LAST_OBJECTS:]]
    return bool(objectwords.speaks(pl.Series(texts, dtype=pl.String)).any())


def _has_text(lines: Lines) -> bool:
    others = np.flatnonzero(~lines.braced & (lines.ends > lines.begins))
    return any(is_text(_behind_object(lines.line(nth))) for nth in others.tolist())


def _behind_object(line: bytes) -> bytes:
    """The line without the object that it begins with."""
    return line[line.rfind(b"}") + 1 :] if line.lstrip().startswith(b"{") else line


class TextNoted(wrapped.Unwrapping):
    """An unwrapping that notes which lines of the file begin with text."""

    def __init__(self, names: wrapped.Keys) -> None:
        super().__init__(names)
        self._text_lines: list[pl.Series] = []

    def held(self, block: list[str]) -> pl.DataFrame:
        """As in the base class."""
        self.note_text_lines(~pl.Series("text", block, pl.String).str.contains(_BRACE))
        return super().held(block)

    def note_text_lines(self, is_text: pl.Series) -> None:
        """Note which lines of the block that is taken begin with text."""
        self._text_lines.append(is_text.arg_true() + self.row + 1)

    def text_lines(self) -> pl.Series:
        """The numbers of the lines that begin with text."""
        return pl.concat(self._text_lines).cast(pl.Int64)


class Copy(TextNoted):
    """The lines of the file as text. An object becomes a short row."""

    def __init__(self) -> None:
        super().__init__(wrapped.Keys(""))

    def held(self, block: list[str]) -> pl.DataFrame:
        """As in the base class. An object of words becomes these; others keep their short texts. The traceback that an
        object holds follows.
        """
        line = pl.Series("text", block, pl.String)
        braced = line.str.contains(_BRACE)
        self.note_text_lines(~braced)
        parted = line.str.replace(_BEHIND_OBJECT, "$1\n$2")
        short = parted.str.replace_all(_SHORT_OR_LONG, '"$1"').zip_with(braced, parted)
        spoken = (objectwords.speaks(line) & line.str.ends_with("}")).arg_true()
        if len(spoken):
            short = short.scatter(spoken, objectwords.words(line.gather(spoken)))
        text = wrapped.with_trace(line, short)
        return pl.DataFrame({"text": text, "stamp": ""}).with_row_index("row").filter(line != "")


def read(path: Path, numbers: Iterator[Tables], copy: TextNoted) -> Iterator[Tables]:
    """The tables of the text, which `copy` holds, and those of the objects (`numbers`) with the session of their lines.

    A metric that objects and text both have is taken from the objects. Raises OSError.
    """
    (log,) = (module for module in formats() if module.NAME == "text")
    spool, printed, starts = Spool(held=MAX_HELD_ROWS), list[Rows](), [1]
    with wrapped.unwrapped(path, copy) as inside:
        for tables in map(inside.placed, log.read(inside.file)):
            starts = tables.sessions["first_line"].to_list() or starts
            printed.append(spool.keep(tables.points.filter(pl.col("line").is_in(copy.text_lines().implode()))))
            yield replace(tables, points=Tables().points)
    names = set[str]()
    for tables in numbers:
        names.update(tables.points["metric"].unique())
        yield replace(tables, points=_with_sessions(tables.points, starts))
    for frame in (frame for rows in printed for frame in rows.frames()):
        yield Tables(points=frame.filter(~pl.col("metric").is_in(names)))


def _with_sessions(points: pl.DataFrame, starts: list[int]) -> pl.DataFrame:
    """The points with the session that holds their line; sessions begin at the lines `starts`."""
    if len(starts) == 1 or not points.height:
        return points
    session = np.searchsorted(starts, points["line"].to_numpy(), side="right") - 1
    return points.with_columns(session=pl.Series(session.clip(0), dtype=pl.Int32))
