"""The lines of a job log around one that matters, read again from its file: tables keep matched lines only."""

import os
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from loganalyst.model import Excerpt, Run
from loganalyst.opening import bounds, opened, within
from loganalyst.sources.config.secrets import masked_line

BEFORE, AFTER = 8, 8  # lines around it
LONGEST_BLOCK = 60  # lines of the traceback that ends with it
REACH = 64 * 1024  # bytes read on either side
LONGEST_LINE = 4096  # characters of a line that is kept


def excerpts(run: Run, places: Iterable[tuple[str | None, int | None]]) -> tuple[Excerpt, ...]:
    """One for each (file, line) that is still there to read: not of packed logs, UTF-16, and logs that changed."""
    known = ((file, line) for file, line in dict.fromkeys(places) if file is not None and line is not None)
    return tuple(found for file, line in known if (found := _excerpt(run, file, line)))


def _excerpt(run: Run, file: str, line: int) -> Excerpt | None:
    row = run.lines.filter(pl.col("file") == file, pl.col("line") == line, pl.col("offset").is_not_null())
    if not row.height:
        return None
    block = run.block(file, line)
    above = min(max(line - block["first_line"] + 2, BEFORE), LONGEST_BLOCK) if block else BEFORE
    root = run.path if run.path.is_dir() else run.path.parent
    offset = row["offset"][0]
    try:
        with within(bounds([root], [root / file])):  # a joined log lies elsewhere, and is no link
            before, after = _around(root / file, offset)
    except OSError:
        return None
    told = row["text"][0].split()
    if not after or (told and told[-1] not in after[0]):  # another file by now, or packed
        return None
    lines = (*before[-above:], *(after[:-1] if after[-1] == "" else after)[: AFTER + 1])
    return Excerpt(file, line - min(above, len(before)), tuple(map(_shown, lines)), line)


def _around(file: Path, offset: int) -> tuple[list[str], list[str]]:
    """Whole lines before a byte offset, and from it on."""
    start = max(offset - REACH, 0)
    if not os.path.isfile(file):  # a pipe would wait
        return [], []
    with opened(file) as handle:
        handle.seek(start)
        data = handle.read(offset - start + REACH)
    head, tail = data[: offset - start], data[offset - start :]
    before = head.decode("utf-8", "replace").split("\n")[:-1]
    return before[1:] if start else before, tail.decode("utf-8", "replace").split("\n")


def _shown(line: str) -> str:
    """The last state of a line that was overwritten, without what looks like a secret."""
    states = [state for state in line[-16 * LONGEST_LINE :].split("\r") if state.strip()]
    return masked_line((states or [""])[-1][:LONGEST_LINE])
