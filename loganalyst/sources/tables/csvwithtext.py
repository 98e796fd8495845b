"""Tables of delimited text that a program printed, with its other words behind or between the rows."""

from pathlib import Path

import polars as pl

from loganalyst.sources.files.lineblocks import blocks, count
from loganalyst.sources.tables.jsonwithtext import Copy
from loganalyst.sources.text import sniffing

MAX_TEXT_BYTES = 1 << 20  # of the lines that are no rows, in a block: they are searched for words of a job


class TableCopy(Copy):
    """The lines of the file as text; a row of the table becomes a line that shows progress."""

    def __init__(self, sep: str, columns: int) -> None:
        super().__init__()
        self._sep, self._columns = sep, columns

    def held(self, block: list[str]) -> pl.DataFrame:
        """As in the base class."""
        line = pl.Series("text", block, pl.String)
        is_row = _is_row(line, self._sep, self._columns)
        self.note_text_lines(~is_row)
        number = pl.int_range(self.row, self.row + len(line), eager=True).cast(pl.String)
        progress = pl.select("step " + pl.lit(number) + " loss 0." + pl.lit(number)).to_series()
        text = progress.zip_with(is_row, line).alias("text")
        return pl.DataFrame({"text": text, "stamp": ""}).with_row_index("row").filter(line != "")


def _is_row(line: pl.Series, sep: str, columns: int) -> pl.Series:
    """Which lines are rows of the table, its header, or comments."""
    cells = line.str.count_matches(sep, literal=True) + 1
    return (cells == columns) | line.str.starts_with("#") | (line.str.strip_chars() == "")


def has_text(path: Path, sep: str, columns: int) -> bool:
    """Whether lines between or behind the rows are those of a job. Raises OSError."""
    for block in blocks(path):
        lines = block.breaks + (not block.data.endswith(b"\n"))
        if count(block.data, sep.encode()) == lines * (columns - 1):  # as where each line is a row
            continue
        line = pl.Series("text", block.data.decode("utf-8", "replace").split("\n"), pl.String).str.strip_suffix("\r")
        others = line.filter(~_is_row(line, sep, columns))
        if len(others) and sniffing.is_training("\n".join(others).encode()[:MAX_TEXT_BYTES]):
            return True
    return False
