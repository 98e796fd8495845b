"""Stacks of running processes in the midst of a log: dumps of py-spy, and of faulthandler without a crash."""

from collections.abc import Iterator

import polars as pl

from loganalyst.sources.stackdump import doings
from loganalyst.sources.stackdump.stacks import PROCESS, THREAD, is_line, of_text
from loganalyst.sources.text.tracebacks import stacks
from loganalyst.sources.text.tracebacks.printers import Printer, by_printer

WORDS = ("(most recent call first):", "(active", "(idle)")
ROWS_ABOVE = 6  # rows of a dump before its first thread: its process, the version of Python, a blank line
_CRASH = "Fatal Python error"  # faulthandler prints the same lines below


def find(rows: pl.DataFrame, exceptions: pl.Series) -> pl.DataFrame:  # noqa: ARG001 (as the other kinds of blocks)
    """The processes in `rows` (prefix, body) as blocks of kind `stack`; what they do is in `message`, and their own
    place in `frame`.
    """
    found = [block for printer in by_printer(rows) for block in _of_printer(printer)]
    return pl.DataFrame(found, schema=stacks.FOUND, orient="row")


def _of_printer(printer: Printer) -> Iterator[tuple[object, ...]]:
    for start, end in _dumps(printer.texts):
        for process in of_text("\n".join(printer.texts[start:end])):
            done = doings.done(process)
            first, last = (printer.at[start + line - 1] for line in (process.first_line, process.last_line))
            does = f"{done.doing or doings.UNKNOWN}: {done.call}"
            yield "stack", first, last, None, does, done.frame, None, process.rank, None, None, None


def _dumps(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Where each dump begins and ends, without those of crashes."""
    end = 0
    for i in (i for i, text in enumerate(texts) if "Thread " in text or "thread " in text):
        if i < end or not THREAD.match(texts[i]):
            continue
        above = range(max(i - ROWS_ABOVE, end), i)
        start = next((k for k in above if PROCESS.match(texts[k])), i)
        end = next((k for k in range(i + 1, len(texts)) if not is_line(texts[k])), len(texts))
        if not any(_CRASH in texts[k] for k in above):
            yield start, end
