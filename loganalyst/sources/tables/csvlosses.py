"""The rows and cells of a table that could not be used, counted by reason, and its stretches of NUL bytes."""

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import polars as pl

from loganalyst.sources.files.lineblocks import Block, gap
from loganalyst.sources.tables.cells import Rows
from loganalyst.sources.tables.nulbytes import Hole

_MAX_HOLES_LISTED = 20  # stretches of NUL bytes with a gap row of their own


@dataclass(frozen=True)
class _Loss:
    """The cells or rows that could not be used for one reason; line and offset are those of the first."""

    count: int
    line: int
    offset: int | None
    extent: int | None  # in bytes, if `count` is 1
    example: str = ""


class Losses(msgspec.Struct):
    """The losses of one file."""

    path: Path
    holes: list[pl.DataFrame] = msgspec.field(default_factory=list)
    reasons: dict[str, _Loss] = msgspec.field(default_factory=dict)

    def gaps(self) -> list[pl.DataFrame]:
        """One gap row per hole and per reason."""
        reasons = ((f"{x.count} {what}, the first in line {x.line}{x.example}", x) for what, x in self.reasons.items())
        return [*self.holes, *(gap(self.path, why, x.offset, x.extent) for why, x in reasons)]

    def zeroed(self, hole: Hole) -> None:
        """Add a stretch of lines with NUL bytes."""
        if len(self.holes) < _MAX_HOLES_LISTED:
            self.holes.append(gap(self.path, f"NUL bytes from line {hole.line} on", hole.offset, hole.extent))
        else:
            self._count("more stretches of NUL bytes", _Loss(1, hole.line, hole.offset, None))

    def whole_rows(self, frame: pl.DataFrame, block: Block, width: int) -> pl.DataFrame:
        """(line, cells) without the rows whose cells cannot be assigned to columns.

        Such rows have too many cells, are cut off at the end of the file, or lack their beginning.
        """
        found = pl.col("cells").list
        filled = found.slice(width).list.join("").str.strip_chars() != ""
        odd = frame.select(more=(found.len() > width) & filled, fewer=found.len() < width)
        more, fewer = odd["more"], odd["fewer"]
        if not (more.any() or fewer.any()):
            return frame
        cut = fewer & (frame["line"] == block.line + block.breaks) & (not block.data.endswith(b"\n"))
        torn = fewer & ~cut & _without_beginning(frame, fewer | more)
        self.lines(f"rows with more than {width} cells", block, frame["line"].filter(more))
        self.lines("row is cut off", block, frame["line"].filter(cut))
        self.lines("rows without their beginning", block, frame["line"].filter(torn))
        short = f"rows with fewer than {width} cells (read as far as they go)"
        self.lines(short, block, frame["line"].filter(fewer & ~cut & ~torn))
        return frame.filter(~(more | cut | torn))

    def odd_cells(self, name: str, rows: Rows, block: Block) -> None:
        """Count the cells of a numeric column that are not numbers."""
        column, values = rows.texts[name], rows.values[name]
        if values.null_count() > column.null_count():
            odd = values.is_null() & column.is_not_null()
            example = f": {column.filter(odd)[0][:40]!r}"
            self.lines(f"cells of column {name!r} are not numbers", block, rows.lines.filter(odd), example)

    def lines(self, what: str, block: Block, lines: pl.Series, example: str = "") -> None:
        """Count some lines of a block under a reason."""
        if not len(lines):
            return
        line = lines[0]
        begin = block.begin(line)
        row = block.data[begin : block.data.find(b"\n", begin) + 1 or None]
        # a quoted row may continue in the next line, so its extent is unknown
        extent = block.extent(row) if len(lines) == 1 and block.offset is not None and b'"' not in row else None
        self._count(what, _Loss(len(lines), line, block.at(begin), extent, example))

    def _count(self, what: str, loss: _Loss) -> None:
        before = self.reasons.get(what)
        count = before.count if before else 0
        self.reasons[what] = replace(before or loss, count=count + loss.count, extent=None if before else loss.extent)


def _without_beginning(frame: pl.DataFrame, odd: pl.Series) -> pl.Series:
    """Whether a row begins with something else, where all other rows begin with a whole number or an empty cell."""
    whole = frame["cells"].list.first().str.strip_chars().str.contains(r"^\d*$")
    others = whole.filter(~odd)
    return ~whole if len(others) and others.all() else pl.repeat(False, frame.height, eager=True)
