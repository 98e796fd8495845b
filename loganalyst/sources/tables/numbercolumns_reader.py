"""Columns of numbers without a header row, as `numpy.savetxt` and `print(step, loss)` write them: DeepXDE's `loss.dat`.

The names stand above the rows, if anywhere: in a comment, or in a line of names, one of which is a measure's (see
`commentnames`). DeepXDE names groups instead (`# step, loss_train, loss_test, metrics_test`): each term of the loss has
a column in both loss groups, and what is left over are metrics. Columns without a name keep their number (`column_2`),
and a gap says how to name them. A first column of whole numbers that never fall counts steps; else rows are counted.
Sources: numpy.savetxt; DeepXDE `utils/external.py`, `save_loss_history`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import polars as pl

from loganalyst import filemeasure
from loganalyst.model import Tables
from loganalyst.opening import opened
from loganalyst.sources.files.lineblocks import Block, blocks, gap, text
from loganalyst.sources.tables import commentnames, numberrows, unnamed
from loganalyst.sources.tables.pointrows import as_points

NAME = "numbercolumns"

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|[nN]a[nN]|[iI]nf)"
_ROW = re.compile(rf"\s*{_NUMBER}(?:\s+{_NUMBER})*\s*")  # `5.0e+02 5.08e-05 8.0e-07`
_CLUTTER = "[](),\t"  # characters that stand for blanks: `[0, 2.3],`
_NAME = re.compile(r"[A-Za-z][\w/.-]*")  # a name in a comment: `loss_train`
_FILES = re.compile(r"(?:loss|metric|histor|error)\w*\.(?:dat|txt)$|\.loss$", re.IGNORECASE)  # `loss.dat`
_GROUPS = ["step", "loss_train", "loss_test", "metrics_test"]  # DeepXDE's comment
MIN_ROWS = 3
MAX_COLUMNS = 200
_HEAD = 1 << 14  # bytes in which the comment with the names is looked for
_SNIFFED = 50  # lines
HEAD_BYTES = 1 << 16  # that a reader sees: a file with fewer is seen whole
_TABLES = (".csv", ".tsv")  # csv_reader takes them
_BLANKS = str.maketrans(dict.fromkeys(_CLUTTER, " "))


def sniff(path: Path, head: bytes) -> float:
    """How surely the file is one of these: its first lines are rows of as many numbers. 0.7 where a name says what they
    are, else 0.55 if the end of the file looks the same: a log may print numbers, too.

    >>> sniff(Path("loss.dat"), b"# step, loss_train\\n0 1.5\\n1 1.4\\n2 1.2\\n")
    0.7
    >>> sniff(Path("loss.dat"), b"epoch 0 1.5\\nepoch 1 1.4\\nepoch 2 1.2\\n")
    0.0
    """
    if path.suffix.lower() in _TABLES:
        return 0.0
    lines = [line for line in text(head).split("\n")[:_SNIFFED] if line.strip()]
    if len(head) >= 1 << 15:
        lines = lines[:-1]  # the last one may be cut
    rows = [line for line in lines if not _is_comment(line)]
    headed = not _width(rows[:MIN_ROWS])
    width = _width(rows[headed:])
    if width >= numberrows.LONG * len(rows) and len(head) < HEAD_BYTES:  # each line is a curve: numberlists takes them
        return 0.0
    comments = _above(lines)
    named = commentnames.names([*comments, *rows[:headed]], width) if width else []
    if headed:  # names that are no comment
        measured = any(map(filemeasure.says_measure, named))
        return 0.55 if measured and _ends_alike(path, head, width, above=len(comments) + 1) else 0.0
    said = bool(_FILES.search(path.name)) or any(map(filemeasure.says_measure, named)) or _names(comments) == _GROUPS
    if said and width > 1:  # csv_reader takes a list that its file names
        return 0.7
    fractions = any(char in line for line in lines for char in ".eE")
    return 0.55 if width and fractions and _ends_alike(path, head, width) else 0.0


def _width(rows: Sequence[str]) -> int:
    """How many numbers each of the rows has; 0 where they differ, are too few, or hold words."""
    clean = [row.translate(_BLANKS) for row in rows]
    widths = {len(row.split()) for row in clean}
    alike = len(rows) >= MIN_ROWS and len(widths) == 1 and max(widths) <= MAX_COLUMNS
    return widths.pop() if alike and all(map(_ROW.fullmatch, clean)) else 0


def _ends_alike(path: Path, head: bytes, width: int, above: int = 0) -> bool:
    """Whether the last lines of the file are such rows, too. `head`: its first bytes, all it has if they are few; the
    first lines `above` the rows are none.
    """
    end = head[-_HEAD:]
    if len(head) >= HEAD_BYTES:
        with opened(path) as file:
            file.seek(max(path.stat().st_size - _HEAD, 0))
            end = file.read(_HEAD)
    lines = [line for line in text(end).split("\n")[1 if len(head) > _HEAD else 0 :] if line.strip()]
    lines = lines if len(head) > _HEAD else lines[above:]
    return _width([line for line in lines if not _is_comment(line)]) == width


def read(path: Path) -> Iterator[Tables]:
    """The file's points; rows of another width, and how to name columns, as gaps. Raises OSError."""
    with opened(path) as file:
        head = text(file.read(_HEAD)).split("\n")
    columns: list[str] = []
    before, lost, counts, heading = 0, 0, False, _heading(head)
    for block in blocks(path, quoted=False):
        rows = _rows(block)[0 if columns else len(heading) :]
        if not columns and rows.height:
            columns, counts = _columns([*_above(head), *heading], rows["cells"], path)
        whole = rows.filter(pl.col("cells").list.len() == len(columns))
        lost += rows.height - whole.height
        yield Tables(points=_points(path, whole, columns, None if counts else before))
        before += whole.height
    sample = next((line.strip() for line in head if line.strip() and not _is_comment(line)), "")
    for hint in unnamed.hint(path, columns, before, sample):
        yield Tables(gaps=hint)
    if lost:
        yield Tables(gaps=gap(path, f"{lost:,} rows do not have {len(columns)} numbers"))


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] in ("#", "%")


def _above(lines: Sequence[str]) -> list[str]:
    """The comments above the first row."""
    return [line for line in takewhile(lambda line: not line.strip() or _is_comment(line), lines) if line.strip()]


def _heading(lines: Sequence[str]) -> list[str]:
    """The first line that is no comment, if it holds names."""
    first = next((line for line in lines if line.strip() and not _is_comment(line)), "")
    return [] if _ROW.fullmatch(first.translate(_BLANKS)) else [first]


def _names(comments: Sequence[str]) -> list[str]:
    """The words of the last comment."""
    return next((found for line in reversed(comments) if (found := _NAME.findall(line))), [])


def _columns(above: Sequence[str], cells: pl.Series, path: Path) -> tuple[list[str], bool]:
    """The name of each column, and whether the first counts steps.

    >>> names = ["# step, loss_train, loss_test, metrics_test"]
    >>> _columns(names, pl.Series([[0.0, 1, 2, 3, 4, 5], [500.0, 1, 2, 3, 4, 5]]), Path("loss.dat"))
    (['step', 'loss_train/1', 'loss_train/2', 'loss_test/1', 'loss_test/2', 'metrics_test'], True)
    """
    width = len(cells[0])
    alike = cells.filter(cells.list.len() == width)
    counts = width > 1 and unnamed.counts_up(alike.list.first())
    if _names(above) == _GROUPS and width > 2:
        terms = (width - 1) // 2
        sizes = {"loss_train": terms, "loss_test": terms, "metrics_test": width - 1 - 2 * terms}
        grouped = (n if size == 1 else f"{n}/{k + 1}" for n, size in sizes.items() for k in range(size))
        return ["step", *grouped], True
    if found := commentnames.names(above, width):
        return filemeasure.named(found, path), counts
    return unnamed.names(width, path, counts=counts), counts


def _rows(block: Block) -> pl.DataFrame:
    """`line` and `cells` (a list of Float64) of each row of a block that is neither blank nor a comment."""
    clean = block.data.decode("utf-8").translate(_BLANKS)
    lines = pl.DataFrame({"text": clean.split("\n")}).with_columns(
        line=pl.int_range(pl.len(), dtype=pl.Int64) + block.line, text=pl.col("text").str.strip_chars()
    )
    rows = lines.filter((pl.col("text") != "") & ~pl.col("text").str.contains("^[#%]"))
    return rows.select("line", cells=pl.col("text").str.split(" ").list.eval(
        pl.element().filter(pl.element() != "").cast(pl.Float64, strict=False).drop_nulls()
    ))  # fmt: skip


def _points(path: Path, rows: pl.DataFrame, columns: Sequence[str], before: int | None) -> pl.DataFrame:
    """One point for each number that is no step. `before`: rows of the file came earlier; None: the first column
    counts.
    """
    wide = rows.select("line", *(pl.col("cells").list.get(k).alias(f"value {k}") for k in range(len(columns))))
    counted = pl.int_range(pl.len(), dtype=pl.Int64) + before if before is not None else pl.col("value 0")
    values = [f"value {k}" for k in range(before is None, len(columns))]
    steps = wide.with_columns(step=counted.cast(pl.Int64, strict=False))
    long = steps.unpivot(values, index=["line", "step"], variable_name="metric")
    names = {f"value {k}": name for k, name in enumerate(columns)}
    return as_points(long.with_columns(pl.col("metric").replace(names)), path.name)
