"""Columns of numbers without a header row, as `numpy.savetxt` writes them: DeepXDE's `loss.dat`, and histories like it.

The names stand in a comment at the top, if anywhere. A comment with one name a column names the columns. DeepXDE names
groups instead (`# step, loss_train, loss_test, metrics_test`): each term of the loss has a column in both loss groups,
and what is left over are metrics. Columns without a name keep their number: `column_2`. A first column of
whole numbers that never fall counts steps; else rows are counted.
Sources: numpy.savetxt; DeepXDE `utils/external.py`, `save_loss_history`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.opening import opened
from loganalyst.sources.files.lineblocks import Block, blocks, gap, text
from loganalyst.sources.tables.pointrows import as_points

NAME = "numbercolumns"

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|[nN]a[nN]|[iI]nf)"
_ROW = re.compile(rf"\s*{_NUMBER}(?:\s+{_NUMBER})*\s*")  # `5.0e+02 5.08e-05 8.0e-07`
_NAME = re.compile(r"[A-Za-z][\w/.-]*")  # a name in a comment: `loss_train`
_FILES = re.compile(r"(?:loss|metric|histor|error)\w*\.(?:dat|txt)$|\.loss$", re.IGNORECASE)  # `loss.dat`
_GROUPS = ["step", "loss_train", "loss_test", "metrics_test"]  # DeepXDE's comment
MIN_ROWS = 3
MAX_COLUMNS = 200
_HEAD = 1 << 14  # bytes in which the comment with the names is looked for
_SNIFFED = 50  # lines


def sniff(path: Path, head: bytes) -> float:
    """How surely the file is one of these: its first lines are rows of as many numbers, and a name says what they are.

    >>> sniff(Path("loss.dat"), b"# step, loss_train\\n0 1.5\\n1 1.4\\n2 1.2\\n")
    0.7
    >>> sniff(Path("points.dat"), b"0 1.5\\n1 1.4\\n2 1.2\\n")
    0.0
    """
    lines = [line for line in text(head).split("\n")[:_SNIFFED] if line.strip()]
    if len(head) >= 1 << 15:
        lines = lines[:-1]  # the last one may be cut
    rows = [line for line in lines if not line.lstrip().startswith("#")]
    widths = {len(line.split()) for line in rows}
    if (
        len(rows) < MIN_ROWS
        or len(widths) != 1
        or not 1 < max(widths) <= MAX_COLUMNS
        or not all(map(_ROW.fullmatch, rows))
    ):
        return 0.0
    said = bool(_FILES.search(path.name)) or any("loss" in name.lower() for name in _named(lines))
    return 0.7 if said else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The file's points; rows of another width as one gap. Raises OSError."""
    with opened(path) as file:
        names = _named(text(file.read(_HEAD)).split("\n"))
    columns: list[str] = []
    before = lost = 0
    for block in blocks(path, quoted=False):
        rows = _rows(block)
        if not columns and rows.height:
            columns = _columns(names, len(rows["cells"][0]), path)
        whole = rows.filter(pl.col("cells").list.len() == len(columns))
        lost += rows.height - whole.height
        yield Tables(points=_points(path, whole, columns, before))
        before += whole.height
    if lost:
        yield Tables(gaps=gap(path, f"{lost:,} rows do not have {len(columns)} numbers"))


def _named(lines: Sequence[str]) -> list[str]:
    """The names in the last comment above the first row."""
    comments = []
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            break
        comments.append(line)
    return next((found for line in reversed(comments) if (found := _NAME.findall(line))), [])


def _columns(names: Sequence[str], width: int, path: Path) -> list[str]:
    """The name of each column.

    >>> _columns(["step", "loss_train", "loss_test", "metrics_test"], 6, Path("loss.dat"))
    ['step', 'loss_train/1', 'loss_train/2', 'loss_test/1', 'loss_test/2', 'metrics_test']
    """
    if len(names) == width:
        return list(names)
    if names == _GROUPS and width > 2:
        terms = (width - 1) // 2
        sizes = {"loss_train": terms, "loss_test": terms, "metrics_test": width - 1 - 2 * terms}
        return ["step", *(n if size == 1 else f"{n}/{k + 1}" for n, size in sizes.items() for k in range(size))]
    if width <= 2:
        return [path.stem] if width == 1 else ["step", path.stem]
    return [f"column_{k + 1}" for k in range(width)]


def _rows(block: Block) -> pl.DataFrame:
    """`line` and `cells` (a list of Float64) of each row of a block that is neither blank nor a comment."""
    lines = pl.DataFrame({"text": block.data.decode("utf-8").split("\n")}).with_columns(
        line=pl.int_range(pl.len(), dtype=pl.Int64) + block.line, text=pl.col("text").str.strip_chars()
    )
    rows = lines.filter((pl.col("text") != "") & ~pl.col("text").str.starts_with("#"))
    return rows.select("line", cells=pl.col("text").str.split(" ").list.eval(
        pl.element().filter(pl.element() != "").cast(pl.Float64, strict=False).drop_nulls()
    ))  # fmt: skip


def _points(path: Path, rows: pl.DataFrame, columns: Sequence[str], before: int) -> pl.DataFrame:
    """One point for each number that is no step; `before` rows of the file came earlier."""
    wide = rows.select("line", *(pl.col("cells").list.get(k).alias(f"value {k}") for k in range(len(columns))))
    first = wide["value 0"] if wide.height and len(columns) > 1 else pl.Series([0.5])
    steps = bool((first == first.floor()).all()) and bool((first.diff().drop_nulls() >= 0).all())
    step = pl.col("value 0").cast(pl.Int64) if steps else pl.int_range(pl.len(), dtype=pl.Int64) + before
    values = [f"value {k}" for k in range(1 if steps else 0, len(columns))]
    long = wide.with_columns(step=step).unpivot(values, index=["line", "step"], variable_name="metric")
    names = {f"value {k}": name for k, name in enumerate(columns)}
    return as_points(long.with_columns(pl.col("metric").replace(names)), path.name)
