"""Tasks that failed in a dask worker: a line says so, those below it say which, how and where."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loganalyst.sources.config.pythoncode import value
from loganalyst.sources.text.tracebacks.tracelines import Lines, Printer

WORD = "Compute Failed"
ROWS = 60  # of one failure: arguments may be written over many

_FIELDS = ("Key", "State", "Task", "Function", "args", "kwargs", "Exception", "Traceback")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\((.*)\)$", re.DOTALL)
_LONGEST = 100_000  # characters of a field that are looked at


class Task(NamedTuple):
    """A failure: positions of its first and last row, the exception with its message, and the innermost own frame."""

    first: int
    last: int
    exception: str
    message: str | None
    frame: str | None


def find(printers: Iterable[Printer]) -> list[Task]:
    """The failures each of the printers tells, in file order."""
    return sorted(found for printer in printers for found in _of(printer))


def _of(printer: Printer) -> Iterator[Task]:
    at, said = printer.at, printer.said
    for i in (i for i, text in enumerate(said) if text.endswith(WORD)):
        fields, last = _fields(said, i)
        hit = _CALL.match(_unquoted(fields.get("Exception", ""))[:_LONGEST])
        if hit:
            yield Task(at[i], at[last], hit[1], _message(hit[2]), _frame(fields.get("Traceback", "")))


def _fields(said: list[str], first: int) -> tuple[dict[str, str], int]:
    """What is told of the task under each name, and the last line that does."""
    found: dict[str, str] = {}
    last = first
    for i in range(first + 1, min(first + ROWS, len(said))):
        name, colon, told = said[i].partition(":")
        if said[i].endswith(WORD) or "Traceback" in found:
            break
        if colon and name in _FIELDS and name not in found:
            found[name], last = told.strip(), i
    return found, last


def _unquoted(text: str) -> str:
    """A text as it was before it was written as a literal; what is none, as it is."""
    plain = value(text[:_LONGEST])
    return plain if isinstance(plain, str) else text


def _message(arguments: str) -> str | None:
    """What an exception made with these arguments says first."""
    said = _unquoted(arguments).strip()
    return said.partition("\n")[0] or None


def _frame(traceback: str) -> str | None:
    lines = Lines(_unquoted(traceback).split("\n"), 0)
    return next((frame for i in reversed(range(len(lines.text))) if (frame := lines.frame(i))), None)
