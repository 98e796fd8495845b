"""The lines of a job log around an important one. They are read from the file again: tables keep only matched lines."""

import os
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from loganalyst.model import Excerpt, Run
from loganalyst.opening import bounds, opened, within
from loganalyst.sources.config.secrets import masked_line

LINES_BEFORE, LINES_AFTER = 8, 8
MAX_BLOCK_LINES = 60  # of the traceback that ends with the line
READ_BYTES = 64 * 1024  # on either side
MAX_LINE_CHARACTERS = 4096


def excerpts(run: Run, places: Iterable[tuple[str | None, int | None]]) -> tuple[Excerpt, ...]:
    """One excerpt for each (file, line) that can still be read: not in compressed, UTF-16 or changed logs."""
    known = ((file, line) for file, line in dict.fromkeys(places) if file is not None and line is not None)
    return tuple(found for file, line in known if (found := _excerpt(run, file, line)))


def _excerpt(run: Run, file: str, line: int) -> Excerpt | None:
    row = run.lines.filter(pl.col("file") == file, pl.col("line") == line, pl.col("offset").is_not_null())
    if not row.height:
        return None
    block = run.block(file, line)
    above = min(max(line - block["first_line"] + 2, LINES_BEFORE), MAX_BLOCK_LINES) if block else LINES_BEFORE
    root = run.path if run.path.is_dir() else run.path.parent
    offset = row["offset"][0]
    try:
        with within(bounds([root], [root / file])):  # a joined log lies elsewhere, and is no link
            before, after = _around(root / file, offset)
    except OSError:
        return None
    words = row["text"][0].split()
    if not after or (words and words[-1] not in after[0]):  # another file by now, or compressed
        return None
    lines = (*before[-above:], *(after[:-1] if after[-1] == "" else after)[: LINES_AFTER + 1])
    return Excerpt(file, line - min(above, len(before)), tuple(map(_last_state, lines)), line)


def _around(file: Path, offset: int) -> tuple[list[str], list[str]]:
    """Whole lines before a byte offset, and from it on."""
    start = max(offset - READ_BYTES, 0)
    if not os.path.isfile(file):  # reading a pipe would wait for its writer
        return [], []
    with opened(file) as handle:
        handle.seek(start)
        data = handle.read(offset - start + READ_BYTES)
    head, tail = data[: offset - start], data[offset - start :]
    before = head.decode("utf-8", "replace").split("\n")[:-1]
    return before[1:] if start else before, tail.decode("utf-8", "replace").split("\n")


def _last_state(line: str) -> str:
    """The last state of a line that was overwritten (by progress bars), with secrets masked."""
    states = [state for state in line[-16 * MAX_LINE_CHARACTERS :].split("\r") if state.strip()]
    return masked_line((states or [""])[-1][:MAX_LINE_CHARACTERS])
