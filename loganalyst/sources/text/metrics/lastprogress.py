"""The last progress in a log: the last step and epoch of each rank, and their planned numbers."""

import re
from pathlib import Path

import polars as pl

from loganalyst.model import table
from loganalyst.sources.text.lines.gluedbars import TQDM_END
from loganalyst.sources.text.lines.prefixes import described
from loganalyst.sources.text.metrics.barsteps import BAR
from loganalyst.sources.text.metrics.epochbatchpairs import pair_of
from loganalyst.sources.text.metrics.lastlines import last_lines
from loganalyst.sources.text.openingwords import opening_words

TAIL_BYTES = 1 << 17  # bytes of the end of the file that are searched
MAX_TEXT_CHARS = 200  # characters of a line that are kept
MAX_RANKS = 4096  # ranks that get a row
# `global_step: 5/400`, `step=5`, `iteration [5 of 400`
_STEP = r"(?i)\b(?:global[_ ]?)?(?:step|iter(?:ation)?)\b[\s:=\[(]{0,12}([0-9]{1,12})(?:\s*(?:/|of)\s*([0-9]{1,12}))?"
_COUNTED = r"(?i)\b(?:its?|upd(?:ate)?s?)\b[\s:=#\[(]{0,12}([0-9]{1,12})\s*(?:/|of)\s*([0-9]{1,12})\b"  # `it  5/400`
_EPOCH = r"(?i)\bepochs?\b[\s:=\[(]{0,4}([0-9]{1,9})\s*(?:/|of)\s*([0-9]{1,9})\b"  # `Epoch 3/10`, `epoch [3 of 10`
_EPOCH_AND_BATCH = pair_of("[0-9]{1,9}")  # `[3/10][450/500]`
# Lines of another pass or of an error: `val 5/10`, `evaluating`, `test_step`, `srun`, `ValueError`
_OTHER_PASS = (
    r"(?i)(?-u:\b)(?:val|valid|validation|(?:(?:test|load|download|slurm)|(?:evaluat|tokeni|sampl|generat)[a-z0-9_])[a-z0-9_]*"
    r"|eval|map|srun|cancelled|[a-z0-9_]*(?:error|exception))(?-u:\b)"
)
# The bar of a work: `Packing train dataset:  40%|██`; the group is its description
_OF_BAR = r"^\W{0,9}([A-Za-z][^%|]{2,80}?):? {0,9}[0-9]{1,3}%\|"
_HAS_PROGRESS = re.compile(rb"(?i)step|iter|epoch|\b(?:its?|upd(?:ate)?s?)\b|\d/\d+\]? ?\[")  # `step`, `it`, `5/400 [`
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # terminal codes: `\x1b[1m`
_NUMBERS = ("step", "steps", "epoch", "epochs")


def last(path: Path, session: int, first_line: int, last_line: int) -> pl.DataFrame:
    """One row of `lines` a rank with the last progress that the end of the last session prints.

    The pattern is `last-step`; the captures are the numbers step, steps, epoch, epochs where they are printed. The
    session begins at `first_line`; `last_line` is the file's.
    """
    lines = last_lines(path, last_line, TAIL_BYTES, _HAS_PROGRESS).filter(pl.col("line") >= first_line)
    if lines.is_empty():
        return table("lines")
    rows = _rows(lines)
    printed = rows.filter(pl.any_horizontal(pl.col(*_NUMBERS).is_not_null()))
    ends = printed.group_by("rank", maintain_order=True).agg(
        pl.col("line").last(),
        pl.col("body").last().alias("text"),
        *(pl.col(name).drop_nulls().last() for name in _NUMBERS),
    )
    ends = ends.head(MAX_RANKS)
    captures = ends.select(pl.struct(pl.col(*_NUMBERS).cast(pl.String)).struct.json_encode()).to_series()
    return table("lines", {
        "session": session, "file": path.name, "line": ends["line"], "rank": ends["rank"], "pattern": "last-step",
        "part": "advice", "captures": captures, "text": ends["text"].str.tail(MAX_TEXT_CHARS),
    })  # fmt: skip


def _pieces(line: str) -> list[str]:
    """What a line shows in turn; the scheduler's last word may follow a bar in its line."""
    return TQDM_END.sub(rb"\1\r", line.encode()).decode("utf-8", "replace").split("\r")


def _is_beside(body: pl.Expr) -> pl.Expr:
    """Whether a line is the bar of a work beside the training, by the words of its description."""
    words = opening_words()
    description = body.str.extract(_OF_BAR).str.to_lowercase()
    begins = description.str.contains(rf"^(?:{'|'.join(words.bars_beside)})")
    return (begins & ~description.str.contains_any(list(words.bars_of_training))).fill_null(value=False)


def _rows(lines: pl.DataFrame) -> pl.DataFrame:
    """line, rank, body, and the numbers of each row; among bars only those with the largest total: the training's."""
    parts = [(line, _ANSI.sub("", part)) for line, text in lines.iter_rows() for part in _pieces(text) if part]
    rows = pl.DataFrame(parts, {"line": pl.Int64, "text": pl.String}, orient="row")
    body = pl.col("body")
    parsed = described(rows["text"]).select("rank", "body").with_columns(rows["line"])
    numbers = {"step": (_STEP, 1), "steps": (_STEP, 2), "count": (_COUNTED, 1), "counts": (_COUNTED, 2),
               "epoch": (_EPOCH, 1), "epochs": (_EPOCH, 2), "bar": (BAR, 1), "bars": (BAR, 2)}  # fmt: skip
    pairs = {name: (_EPOCH_AND_BATCH, n) for n, name in enumerate(("epoch", "epochs", "step", "steps"), 1)}
    parsed = parsed.filter(~body.str.contains(_OTHER_PASS), ~_is_beside(body)).with_columns_seq(
        *(body.str.extract(*number).cast(pl.Int64).alias(name) for name, number in numbers.items()),
        *(body.str.extract(*number).cast(pl.Int64).alias(f"{name}_of_pair") for name, number in pairs.items()),
    )
    parsed = parsed.with_columns(pl.coalesce(name, f"{name}_of_pair").alias(name) for name in _NUMBERS)
    parsed = parsed.with_columns(step=pl.coalesce("step", "count"), steps=pl.coalesce("steps", "counts"))
    longest = (pl.col("bars") == pl.col("bars").max()) & pl.col("step").is_null()
    return parsed.with_columns_seq(
        step=pl.when(longest).then("bar").otherwise("step"),
        steps=pl.when(longest).then("bars").otherwise("steps"),
    )
