"""Errors of a program that PowerShell redirected (`2> err.txt`): without PowerShell's own lines, and joined again.

PowerShell 5 writes the errors of a program as records of its own, in UTF-16, cut at the width of the window. The text
as the program printed it goes to a temporary file (TMPDIR); its lines keep the numbers of the original file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from loganalyst.opening import temporary
from loganalyst.sources.files.lineblocks import blocks
from loganalyst.sources.text.lines import loglines
from loganalyst.sources.text.lines.wrapped import Unwrapped

_LAST = "FullyQualifiedErrorId : NativeCommandError"  # in the last line of a record's head
# `At line:1 char:1`, `At C:\jobs\run.ps1:3 char:1`: the first line of what PowerShell says of the record
_FIRST = r"^At (?:line|\S.*\.ps1):\d+ char:\d+\s*$"
_PROGRAM = r"^[\w.\\/:+-]+ : "  # `python.exe : ` before the first line of the program
MIN_WIDTH = 60  # characters of a window
MIN_CUT_LINES = 2  # of one length, which is the width then
USUAL_WIDTHS = (79, 80, 119, 120)  # of windows: one line of that length suffices, if none is longer


def is_redirected(head: bytes) -> bool:
    """Whether a file that begins with `head` holds errors as PowerShell writes them."""
    return _LAST in loglines.head(head)


@contextmanager
def printed(path: Path) -> Iterator[Unwrapped]:
    """The log at `path` as the program printed it, below a folder of the same name. Raises OSError."""
    with temporary() as folder:
        inner = Path(folder, *path.absolute().parts[1:][-3:])
        inner.parent.mkdir(parents=True, exist_ok=True)
        numbers, width = [pl.Series([], dtype=pl.Int64)], None
        with inner.open("w", encoding="utf-8", newline="") as out:
            for block in blocks(path, quoted=False):
                lines = _lines(block.data, block.line)
                width = width or _width(lines["text"])
                kept = _joined(_own(lines), width)
                numbers.append(kept["line"])
                out.writelines(f"{text}\n" for text in kept["text"])
        yield Unwrapped(inner, pl.concat([*numbers, numbers[-1].tail(1)]).to_numpy())


def _lines(data: bytes, first: int) -> pl.DataFrame:
    """The lines of a block (line, text), numbered from `first` on."""
    text = pl.Series("text", data.decode("utf-8", "replace").removesuffix("\n").split("\n")).str.strip_suffix("\r")
    return pl.DataFrame({"line": pl.int_range(first, first + len(text), eager=True), "text": text})


def _width(text: pl.Series) -> int | None:
    """The width at which long lines are cut; None where none is known."""
    sizes = text.str.len_chars().rename("size").value_counts(sort=True).filter(pl.col("size") >= MIN_WIDTH)
    often = sizes.filter(pl.col("count") >= MIN_CUT_LINES)["size"]
    longest = sizes.filter(pl.col("size") == pl.col("size").max(), pl.col("size").is_in(USUAL_WIDTHS))["size"]
    return next(iter([*often, *longest]), None)


def _own(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines without those that PowerShell added, with `cut_at` (their size in the file)."""
    text = pl.col("text")
    lines = lines.with_columns(first=text.str.contains(_FIRST), last=text.str.contains(_LAST, literal=True))
    added = pl.col("first").cum_sum() > pl.col("last").cum_sum().shift(fill_value=0)
    behind = pl.col("last").shift(fill_value=False) & (text.str.strip_chars() == "")
    begins = pl.col("first").shift(-1, fill_value=False)
    without = pl.when(begins).then(text.str.replace(_PROGRAM, "")).otherwise(text)
    return lines.with_columns(text=without, cut_at=text.str.len_chars()).filter(~added & ~behind)


def _joined(lines: pl.DataFrame, width: int | None) -> pl.DataFrame:
    """Each line (line, text) with the lines behind it that were cut off."""
    if width is None:
        return lines.select("line", "text")
    begins = (pl.col("cut_at") != width).shift(fill_value=True).cum_sum()
    whole = lines.group_by(begins.alias("whole"), maintain_order=True)
    return whole.agg(pl.col("line").first(), pl.col("text").str.join("")).select("line", "text")
