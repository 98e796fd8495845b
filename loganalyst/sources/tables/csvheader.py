"""Headers of delimited text: unique_names names for the columns, and headers that are repeated among the rows."""

from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

import polars as pl

from loganalyst import filemeasure
from loganalyst.sources.tables import cells, csvexports, namecolumns, stepcolumns, unnamed
from loganalyst.sources.tables.stepcolumns import normalised

_COUNTED = {"idx", "index"}  # columns that count rows, in exports of Aim and pandas
_DVCLIVE = ("plots", "metrics")  # DVCLive's folder: `plots/metrics/train/loss.tsv` is `train/loss`
MAX_TEXTS = 8  # first columns among which one of texts is looked for
_MAX_REPEATED = 1000  # candidates for a repeated header that are checked in one block


def unique_names(names: Sequence[str], path: Path) -> list[str]:
    """Unique names for the columns of a header.

    An unnamed first column is pandas' index. A single metric called `value` takes the name of the file, as in
    downloads from TensorBoard, Aim and Neptune. A table of DVCLive has one metric; folders are part of its name.
    Columns that say only the data, such as `train` in `Accuracy.csv`, say the measure of the file too.
    """
    header: list[str] = []
    for i, raw in enumerate(csvexports.unmarked(names)):
        name = raw.strip() or (f"column_{i + 1}" if i else "index")
        repeated_headers = (f"{name}.{k}" for k in count(1))
        header.append(next(n for n in chain([name], repeated_headers) if n not in header))
    if len(header) == 2 and header[1] == path.stem and (inner := _below(path, _DVCLIVE)):
        return [header[0], "/".join([*inner, header[1]])]
    if {normalised(name) for name in header}.difference(stepcolumns.AXES, _COUNTED) == {"value"}:
        return [unnamed.metric_of(path) if normalised(n) == "value" else n for n in header]
    return filemeasure.named(header, path)


def _below(path: Path, folder: tuple[str, ...]) -> tuple[str, ...]:
    """The folders between `folder` and the file."""
    parts = path.absolute().parent.parts
    ends = (i + len(folder) for i in range(len(parts)) if parts[i : i + len(folder)] == folder)
    return next((parts[end:] for end in ends), ())


def invented_names(rows: pl.Series, path: Path) -> list[str]:
    """Names for the columns of a table without a header, from its first rows of cells.

    A single column of values is named after the file. A column before it that counts up is the step. A column of texts
    says of which data a row is.
    """
    width = len(rows[0])
    some = [rows.list.get(k, null_on_oob=True).str.strip_chars() for k in range(min(width, MAX_TEXTS))]
    columns = [cells.numbers(column) for column in some]
    texts = {k for k, column in enumerate(columns) if not column.count() and (some[k] != "").any()}
    counts = width > 1 and len(rows) > 2 and unnamed.counts_up(columns[0])
    if not texts:
        return unnamed.names(width, path, counts=counts)
    names = unnamed.names(width, path, counts=counts)
    only = width - len(texts) - counts == 1
    found = (unnamed.metric_of(path) if only and name != unnamed.STEP else name for name in names)
    return ["split" if k in texts else name for k, name in enumerate(found)]


def is_unheaded(row: Sequence[str]) -> bool:
    """Whether a first row is no header: it has numbers, and perhaps a word for the data, such as `1,train,0.5`.

    >>> is_unheaded(["1", "train", "0.5"]), is_unheaded(["step", "train", "7"]), is_unheaded(["1", "cat", "0.5"])
    (True, False, False)
    """
    if cells.numeric(row):
        return True
    words = [cell for cell in row if cell.strip() and not cells.is_number(cell)]
    return len(words) == 1 < sum(map(cells.is_number, row)) and namecolumns.are_data(words)


def is_numbered(row: Sequence[str]) -> bool:
    """Whether a first row is the header that pandas writes for columns without names: a blank, then 0, 1, 2 …

    >>> is_numbered(["", "0"]), is_numbered(["", "0", "1"]), is_numbered(["", "1"]), is_numbered(["0", "1"])
    (True, True, False, False)
    """
    index, *columns = (cell.strip() for cell in row)
    return not index and bool(columns) and columns == [str(k) for k in range(len(columns))]


def repeated_headers(frame: pl.DataFrame, header: Sequence[str]) -> list[int]:
    """The positions of rows in (line, cells) that are headers: no numbers, and at least half of the names known."""
    first = pl.col("cells").list.first().str.strip_chars()
    candidates = frame.select(first.is_in([*header, *stepcolumns.COUNTERS]).arg_true().head(_MAX_REPEATED)).to_series()
    return [i for i in candidates if _is_header(frame["cells"][i].to_list(), header)]


def _is_header(row: Sequence[str], header: Sequence[str]) -> bool:
    names = [cell.strip() for cell in row]
    known = sum(name in header or normalised(name) in stepcolumns.COUNTERS for name in names)
    return 2 * known >= len(names) and all(cells.numbers(pl.Series(names)).is_null())
