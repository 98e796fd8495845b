"""CSV with one curve a cell: `BOW,"[0.71, 0.67, …]"`, as pandas writes a frame of lists.

Each column of lists is a metric, and each row a training of its own. The cell of words before it names the row, and
stands before the metric as the name of a file would: `BOW::Loss`. Cells that hold one number are metrics with one
value.
"""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from loganalyst.model import OF_FILE, Tables
from loganalyst.model.tabletext import printable
from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.tables import cells
from loganalyst.sources.tables.jsonshape import parse_json
from loganalyst.sources.tables.jsonvalues import number_in
from loganalyst.sources.tables.pointrows import as_points

NAME = "listcells"

MAX_BYTES = 64 << 20  # of a file: it is read as a whole
MAX_ROWS = 1_000
MIN_NUMBERS = 3  # of a list that is a curve; a pair may be a range or a point
SUFFIXES = (".csv", ".tsv")


def sniff(path: Path, head: bytes) -> float:
    """How surely it is one: below a header of words, a quoted cell of the second line begins a list of numbers.

    >>> sniff(Path("losses.csv"), b'Model,Loss\\nBOW,"[0.71, 0.67, 0.65]"\\n')
    0.95
    >>> sniff(Path("boxes.csv"), b'step,box\\n1,"[0, 10]"\\n')
    0.0
    """
    lines = text(head).split("\n")
    if path.suffix.lower() not in SUFFIXES or len(lines) < 2 or any(char.isdigit() for char in lines[0]):
        return 0.0
    start = lines[1].find('"[')
    numbers = lines[1][start + 2 :].split("]")[0].split(",") if start >= 0 else []
    known = [number for number in numbers[:MIN_NUMBERS] if cells.all_numbers([number])]
    return 0.95 if len(known) == MIN_NUMBERS else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The points of each cell; a gap for what is no number. Raises OSError."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        yield Tables(gaps=gap(path, f"a table of lists: larger than {MAX_BYTES >> 20} MiB", 0, size))
        return
    lines = [line for line in text(whole(path)).split("\n") if line.strip()]
    try:
        header, *rows = cells.parsed(lines[: MAX_ROWS + 1], cells.separator(lines[:40]))
    except (ValueError, csv.Error):
        yield Tables(gaps=gap(path, "no header", 0, size))
        return
    lost: list[str] = []
    yield from chain.from_iterable(_row(path, header, row, lost) for row in rows)
    if lost:
        yield Tables(gaps=gap(path, f"{len(lost):,} cells are no lists of numbers, the first {lost[0]!r}"))
    if len(lines) > MAX_ROWS + 1:
        yield Tables(gaps=gap(path, f"only the first {MAX_ROWS:,} rows are read"))


def _row(path: Path, header: Sequence[str], row: Sequence[str], lost: list[str]) -> Iterator[Tables]:
    """The points of a row; the cells that are neither words before its lists nor numbers are added to `lost`."""
    label = ""
    for name, cell in zip(header, map(str.strip, row), strict=False):
        values = _numbers(cell)
        if values:
            metric = OF_FILE.join(filter(None, (label, printable(name.strip())[:200])))
            rows = pl.DataFrame({"step": range(len(values)), "value": pl.Series(values, dtype=pl.Float64)})
            yield Tables(points=as_points(rows.drop_nulls("value").with_columns(metric=pl.lit(metric)), path.name))
        elif cell and not cell.startswith("[") and not label:
            label = printable(cell)[:80]
        elif cell:
            lost.append(f"{name}: {cell[:40]}")


def _numbers(cell: str) -> list[float | None]:
    """The numbers of a list, or one number; empty where it is neither."""
    if not cell.startswith("["):
        number = number_in(cell) if cells.all_numbers([cell]) else None
        return [] if number is None else [number]
    found = parse_json(cell.replace("nan", "NaN").replace("None", "null").replace("inf", "Infinity"))
    flat = isinstance(found, list) and not any(isinstance(value, list | dict | str) for value in found)
    return [number_in(value) for value in found] if flat and isinstance(found, list) else []
