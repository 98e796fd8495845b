"""The last lines of a log, for what is printed at its end."""

import re
from pathlib import Path

import polars as pl

from loganalyst.opening import opened


def last_lines(path: Path, last_line: int, size: int, holding: re.Pattern[bytes] | None = None) -> pl.DataFrame:
    """The lines in the last `size` bytes of a file: line (Int64, `last_line` is the file's) and text. The first of them
    may be cut off. None if the bytes lack `holding`, or are UTF-16.
    """
    with opened(path) as file:
        file.seek(max(path.stat().st_size - size, 0))
        tail = file.read(size)
    if 4 * tail.count(b"\0") > len(tail) or (holding and not holding.search(tail)):
        return pl.DataFrame(schema={"line": pl.Int64, "text": pl.String})
    text = pl.Series("text", tail.decode("utf-8", "replace").removesuffix("\n").split("\n"), pl.String)
    return text.to_frame().select(line=pl.int_range(pl.len()) + (last_line - len(text) + 1), text="text")
