"""Headers of delimited text: their names made unique, and where one stands again among the rows."""

from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

import polars as pl

from loganalyst.sources.tables import cells, csvexports, stepcolumns
from loganalyst.sources.tables.stepcolumns import plain

COUNTERS = (*stepcolumns.STEPS, *stepcolumns.EPOCHS)
_DOWNLOAD = {"wall_time", "step", "value"}  # of one tag, from TensorBoard's page
_MOST = 1000  # looked for in one block; after that they are rows


def unique(names: Sequence[str], path: Path) -> list[str]:
    """The names of a header, each once; a nameless first column is pandas' index, `value` of a download its tag."""
    header: list[str] = []
    for i, raw in enumerate(csvexports.unmarked(names)):
        name = raw.strip() or (f"column_{i + 1}" if i else "index")
        again = (f"{name}.{k}" for k in count(1))
        header.append(next(n for n in chain([name], again) if n not in header))
    if {plain(name) for name in header} == _DOWNLOAD:
        return [path.stem.split("-tag-")[-1] if plain(n) == "value" else n for n in header]
    return header


def made(rows: pl.Series, path: Path) -> list[str]:
    """Names for the columns of a table that has none, by its first rows of cells.

    One value a row is called after the file, also where whole numbers before it count up.
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


def again(frame: pl.DataFrame, header: Sequence[str]) -> list[int]:
    """The rows of (line, cells) that are headers: no numbers, and at least half of the names known."""
    first = pl.col("cells").list.first().str.strip_chars()
    candidates = frame.select(first.is_in([*header, *COUNTERS]).arg_true().head(_MOST)).to_series()
    return [i for i in candidates if _is_header(frame["cells"][i].to_list(), header)]


def _is_header(row: Sequence[str], header: Sequence[str]) -> bool:
    names = [cell.strip() for cell in row]
    known = sum(name in header or plain(name) in COUNTERS for name in names)
    return 2 * known >= len(names) and all(cells.numbers(pl.Series(names)).is_null())
