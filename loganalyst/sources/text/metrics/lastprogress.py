"""How far a log had come when it ends: the last step and epoch of each rank, and how many there were to be."""

import re
from pathlib import Path

import polars as pl

from loganalyst.model import SCHEMAS, table
from loganalyst.opening import opened
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics.barsteps import BAR

TAIL = 1 << 17  # bytes of the end of the file that are looked through
SHOWN = 200  # characters of a line that are kept
RANKS = 4096  # that are told apart
_STEP = r"(?i)\b(?:global[_ ]?)?(?:step|iter(?:ation)?)\b[\s:=\[(]{0,12}([0-9]{1,12})(?:\s*(?:/|of)\s*([0-9]{1,12}))?"
_EPOCH = r"(?i)\bepochs?\b[\s:=\[(]{0,4}([0-9]{1,9})\s*(?:/|of)\s*([0-9]{1,9})\b"
_ASIDE = (
    r"(?i)(?-u:\b)(?:val|valid|validation|(?:(?:test|load|download|slurm)|(?:evaluat|tokeni|sampl|generat)[a-z0-9_])[a-z0-9_]*"
    r"|eval|map|srun|cancelled|[a-z0-9_]*(?:error|exception))(?-u:\b)"
)
_WORTH = re.compile(rb"(?i)step|iter|epoch|\d/\d+ \[")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SAID = ("step", "steps", "epoch", "epochs")


def last(path: Path, session: int, first_line: int, last_line: int) -> pl.DataFrame:
    """A row of `lines` a rank (pattern `last-step`, captures step, steps, epoch, epochs: numbers, as far as they are
    printed) of what the last lines of the last session say, which begins at `first_line`; `last_line` is the file's.
    """
    size = path.stat().st_size
    with opened(path) as file:
        file.seek(max(size - TAIL, 0))
        tail = file.read(TAIL)
    if not _WORTH.search(tail) or 4 * tail.count(b"\0") > len(tail):  # UTF-16
        return table("lines")
    rows = _rows(tail, last_line).filter(pl.col("line") >= first_line)
    told = rows.filter(pl.any_horizontal(pl.col(*_SAID).is_not_null()))
    ends = told.group_by("rank", maintain_order=True).agg(
        pl.col("line").last(),
        pl.col("body").last().alias("text"),
        *(pl.col(name).drop_nulls().last() for name in _SAID),
    )
    captures = pl.struct(pl.col(*_SAID).cast(pl.String)).struct.json_encode()
    found = ends.head(RANKS).with_columns_seq(
        pl.lit(session).alias("session"),
        pl.lit(path.name).alias("file"),
        pl.lit("last-step").alias("pattern"),
        pl.lit("advice").alias("part"),
        pl.col("text").str.tail(SHOWN),
        captures.alias("captures"),
    )
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in SCHEMAS["lines"].items() if name not in found.columns]
    return found.with_columns_seq(missing).select_seq(
        pl.col(name).cast(dtype) for name, dtype in SCHEMAS["lines"].items()
    )


def _rows(tail: bytes, last_line: int) -> pl.DataFrame:
    """line, rank, body, and the numbers of each row; of bars those with the longest way to go: the training's."""
    whole = tail.decode("utf-8", "replace").removesuffix("\n").split("\n")
    first = last_line - len(whole) + 1
    parts = [(first + n, _ANSI.sub("", part)) for n, line in enumerate(whole) for part in line.split("\r") if part]
    rows = pl.DataFrame(parts, {"line": pl.Int64, "text": pl.String}, orient="row")
    body = pl.col("body")
    said = described(rows["text"]).select("rank", "body").with_columns(rows["line"])
    numbers = {"step": (_STEP, 1), "steps": (_STEP, 2), "epoch": (_EPOCH, 1), "epochs": (_EPOCH, 2), "bar": (BAR, 1),
               "bars": (BAR, 2)}  # fmt: skip
    said = said.filter(~body.str.contains(_ASIDE)).with_columns_seq(
        body.str.extract(*number).cast(pl.Int64).alias(name) for name, number in numbers.items()
    )
    longest = (pl.col("bars") == pl.col("bars").max()) & pl.col("step").is_null()
    return said.with_columns_seq(
        step=pl.when(longest).then("bar").otherwise("step"), steps=pl.when(longest).then("bars").otherwise("steps")
    )
