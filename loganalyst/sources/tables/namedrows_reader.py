"""Metrics as lines of `step name value`, such as the `log.txt` of build-nanogpt and its many copies.

A line is a whole number, a name and a number, with blanks between: `250 val 5.9512`. A file holds nothing else, so the
reader takes a file only if nearly all of its first lines have that form. Lines of another form become one gap.
Source: github.com/karpathy/build-nanogpt, `train_gpt2.py`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.files.lineblocks import Block, blocks, gap, text
from loganalyst.sources.tables.pointrows import as_points

NAME = "namedrows"

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf)"
_ROW = rf"^\s*(\d+)\s+([A-Za-z][\w/.-]*)\s+({_NUMBER})\s*$"  # `250 val 5.9512`, `0 hella 0.2463`
_ROWS = re.compile(_ROW)
MIN_ROWS = 2  # lines of the form that make a file one of these
MIN_SHARE = 0.9  # of the first lines that have the form
_SNIFFED = 50  # lines
_SHOWN = 3  # line numbers that a gap names


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely the file is one of these: 0.8 if nearly all of its first lines have the form.

    >>> sniff(Path("log.txt"), b"0 val 11.2355\\n0 train 11.226211\\n1 train 11.192025\\n")
    0.8
    >>> sniff(Path("log.txt"), b"step 0 loss 11.2\\nstep 1 loss 11.1\\n")
    0.0
    """
    lines = [line for line in text(head).split("\n")[:_SNIFFED] if line.strip()]
    if len(head) >= 1 << 15:
        lines = lines[:-1]  # the last one may be cut
    rows = sum(bool(_ROWS.match(line)) for line in lines)
    return 0.8 if rows >= MIN_ROWS and rows >= MIN_SHARE * len(lines) else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The file's points in file order; lines of another form as one gap. Raises OSError."""
    odd: list[int] = []
    lost = 0
    for block in blocks(path, quoted=False):
        points, lines = _points(path, block)
        yield Tables(points=points)
        lost += len(lines)
        odd += lines.head(_SHOWN).to_list()
    if lost:
        shown = ", ".join(map(str, odd[:_SHOWN])) + (", …" if lost > _SHOWN else "")
        yield Tables(gaps=gap(path, f"{lost:,} lines are not `step name value`: {shown}"))


def _points(path: Path, block: Block) -> tuple[pl.DataFrame, pl.Series]:
    """The points of a block, and the numbers of its lines that hold none."""
    lines = pl.DataFrame({"text": block.data.decode("utf-8").split("\n")}).with_columns(
        line=pl.int_range(pl.len(), dtype=pl.Int64) + block.line
    )
    cells = lines.filter(pl.col("text").str.strip_chars() != "").with_columns(
        pl.col("text").str.extract_groups(_ROW).struct.rename_fields(["step", "metric", "value"]).alias("cells")
    ).unnest("cells")  # fmt: skip
    cells = cells.with_columns(pl.col("step").cast(pl.Int64, strict=False), pl.col("value").cast(pl.Float64))
    known = cells.filter(pl.col("step").is_not_null())
    points = as_points(known, path.name)
    return points, cells.filter(pl.col("step").is_null())["line"]
