"""Headers of delimited text: unique_names names for the columns, and headers that are repeated among the rows."""

from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

import polars as pl

from loganalyst.sources.tables import cells, csvexports, stepcolumns
from loganalyst.sources.tables.stepcolumns import normalised

COUNTERS = (*stepcolumns.STEPS, *stepcolumns.EPOCHS)
_DOWNLOAD = {"wall_time", "step", "value"}  # columns of one tag, downloaded from TensorBoard's page
_MAX_REPEATED = 1000  # candidates for a repeated header that are checked in one block


def unique_names(names: Sequence[str], path: Path) -> list[str]:
    """Unique names for the columns of a header.

    An unnamed first column is pandas' index. In a download from TensorBoard, `value` takes the name of the tag.
    """
    header: list[str] = []
    for i, raw in enumerate(csvexports.unmarked(names)):
        name = raw.strip() or (f"column_{i + 1}" if i else "index")
        repeated_headers = (f"{name}.{k}" for k in count(1))
        header.append(next(n for n in chain([name], repeated_headers) if n not in header))
    if {normalised(name) for name in header} == _DOWNLOAD:
        return [path.stem.split("-tag-")[-1] if normalised(n) == "value" else n for n in header]
    return header


def invented_names(rows: pl.Series, path: Path) -> list[str]:
    """Names for the columns of a table without a header, from its first rows of cells.

    A single column of values is named after the file. A column before it that counts up is the step.
    """
    width = len(rows[0])
    if width == 1:
        return [path.stem]
    if width == 2 and len(rows) > 2 and _counts_up(cells.numbers(rows.list.first().str.strip_chars())):
        return ["step", path.stem]
    return [f"column_{i + 1}" for i in range(width)]


def _counts_up(column: pl.Series) -> bool:
    rises = bool((column.diff().drop_nulls() > 0).all())
    return rises and not column.null_count() and not stepcolumns.fractions(column)


def repeated_headers(frame: pl.DataFrame, header: Sequence[str]) -> list[int]:
    """The positions of rows in (line, cells) that are headers: no numbers, and at least half of the names known."""
    first = pl.col("cells").list.first().str.strip_chars()
    candidates = frame.select(first.is_in([*header, *COUNTERS]).arg_true().head(_MAX_REPEATED)).to_series()
    return [i for i in candidates if _is_header(frame["cells"][i].to_list(), header)]


def _is_header(row: Sequence[str], header: Sequence[str]) -> bool:
    names = [cell.strip() for cell in row]
    known = sum(name in header or normalised(name) in COUNTERS for name in names)
    return 2 * known >= len(names) and all(cells.numbers(pl.Series(names)).is_null())
