"""Tasks that failed in a dask worker: one line says so, the lines below name the task, the exception and the frame."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from loganalyst.sources.config.pythoncode import value
from loganalyst.sources.text.tracebacks.printers import Printer
from loganalyst.sources.text.tracebacks.tracelines import Lines

WORD = "Compute Failed"
MAX_ROWS = 60  # rows of one failure; arguments may fill many

_FIELDS = ("Key", "State", "Task", "Function", "args", "kwargs", "Exception", "Traceback")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\((.*)\)$", re.DOTALL)  # `ValueError('bad batch')`
_MAX_FIELD_CHARS = 100_000  # characters of a field that are read


class Task(NamedTuple):
    """A failure: positions of its first and last row, the exception with its message, and the innermost own frame."""

    first: int
    last: int
    exception: str
    message: str | None
    frame: str | None


def find(printers: Iterable[Printer]) -> list[Task]:
    """The failed tasks of all printers, in file order."""
    return sorted(found for printer in printers for found in _tasks(printer))


def _tasks(printer: Printer) -> Iterator[Task]:
    """The failed tasks of one printer."""
    at, texts = printer.at, printer.texts
    for i in (i for i, text in enumerate(texts) if text.endswith(WORD)):
        fields, last = _fields(texts, i)
        hit = _CALL.match(_unquoted(fields.get("Exception", ""))[:_MAX_FIELD_CHARS])
        if hit:
            yield Task(at[i], at[last], hit[1], _message(hit[2]), _frame(fields.get("Traceback", "")))


def _fields(texts: list[str], first: int) -> tuple[dict[str, str], int]:
    """The fields below a failure by name, and the last line that holds one."""
    found: dict[str, str] = {}
    last = first
    for i in range(first + 1, min(first + MAX_ROWS, len(texts))):
        name, colon, content = texts[i].partition(":")
        if texts[i].endswith(WORD) or "Traceback" in found:
            break
        if colon and name in _FIELDS and name not in found:
            found[name], last = content.strip(), i
    return found, last


def _unquoted(text: str) -> str:
    """The text that a Python literal stands for; other text as it is."""
    plain = value(text[:_MAX_FIELD_CHARS])
    return plain if isinstance(plain, str) else text


def _message(arguments: str) -> str | None:
    """The first line of the message of an exception with these arguments."""
    message = _unquoted(arguments).strip()
    return message.partition("\n")[0] or None


def _frame(traceback: str) -> str | None:
    """The innermost frame of a quoted traceback that is outside libraries."""
    lines = Lines(_unquoted(traceback).split("\n"), 0)
    return next((frame for i in reversed(range(len(lines.text))) if (frame := lines.frame(i))), None)
