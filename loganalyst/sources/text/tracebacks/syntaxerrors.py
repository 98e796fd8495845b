"""Syntax errors of the program itself: Python prints them without a header."""

import re
from collections.abc import Iterable, Iterator

from loganalyst.sources.text.tracebacks.printers import Printer
from loganalyst.sources.text.tracebacks.tracelines import Lines

WORDS = ("SyntaxError: ", "IndentationError: ", "TabError: ")

_PLACE = re.compile(r'\s*File "[^"]+", line \d+$')  # ` File "train.py", line 3`
_MAX_ROWS_BETWEEN = 4  # rows between an error and its place above

Found = tuple[str | int | None, ...]


def find(printers: Iterable[Printer], known: set[int]) -> list[Found]:
    """The syntax errors as rows of `stacks.FOUND` (positions), without those at the positions `known`."""
    return [found for printer in printers for found in _errors(printer, known)]


def _errors(printer: Printer, known: set[int]) -> Iterator[Found]:
    """The syntax errors of one printer."""
    at, texts = printer.at, printer.texts
    for i, text in enumerate(texts):
        if not text.startswith(WORDS) or at[i] in known:
            continue
        place = next((k for k in range(i - 1, max(i - _MAX_ROWS_BETWEEN, 0) - 1, -1) if _PLACE.match(texts[k])), None)
        if place is not None:
            name, _, says = text.partition(": ")
            frame = Lines(texts[place : place + 1], 0).frame(0)
            yield "python", at[place], at[i], name, says or None, frame, None, None, None, None, None
