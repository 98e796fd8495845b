"""Lists of numbers as points: one curve, rows with a step, rows of several columns, or a few long curves."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst import filemeasure
from loganalyst.model import Tables
from loganalyst.sources.tables import stepcolumns, unnamed
from loganalyst.sources.tables.pointrows import as_points

MIN_NUMBERS = 3
MAX_CURVES = 50  # columns, or long lists, of one file
LONG = 3  # times as long as there are lists: they are curves, not rows

Numbers = Sequence[float | None]


def lists(data: Any) -> list[Numbers]:
    """The lists of numbers in a parsed value; empty if it holds anything else, or less than `MIN_NUMBERS`."""
    if not isinstance(data, list) or not data:
        return []
    found: list[Numbers] = data if all(isinstance(item, list) for item in data) else [data]
    sound = all(found) and all(_is_number(item) for numbers in found for item in numbers)
    return found if sound and sum(map(len, found)) >= MIN_NUMBERS else []


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def tables(path: Path, rows: Sequence[Numbers], sample: str) -> Iterator[Tables]:
    """The points of some lists, and the hint how to name their columns. `sample`: a row as written."""
    curves = _are_curves(rows)
    columns = _columns(rows, curves=curves)
    first = columns[0]
    timed = len(columns) == 3 and stepcolumns.times(first).null_count() == 0 and unnamed.counts_up(columns[1])
    if timed:  # TensorBoard's download: time, step, value
        columns, names = columns[1:], [unnamed.STEP, unnamed.metric_of(path)]
    else:
        names = unnamed.names(len(columns), path, counts=unnamed.counts_up(first))
    if curves and filemeasure.measure(path):  # `val_accs.json`: each list is of that measure
        names = [name.replace("column_", "list_") for name in names]
    time = stepcolumns.times(first) if timed else pl.Series([None] * len(first))
    step = columns[0].cast(pl.Int64) if names[0] == unnamed.STEP else pl.int_range(len(first), eager=True)
    for name, column in zip(names, columns, strict=True):
        if name != unnamed.STEP:
            frame = pl.DataFrame({"step": step, "time": time, "value": column}).with_columns(metric=pl.lit(name))
            yield Tables(points=as_points(frame.drop_nulls("value"), path.name))
    for hint in unnamed.hint(path, names, len(first), sample, json=True):
        yield Tables(gaps=hint)


def width(rows: Sequence[Numbers]) -> int:
    """How many curves the lists are, or their rows have.

    >>> width([[2.5, 0.3], [2.0, 0.4], [1.5, 0.5]]), width([[0.5] * 12, [0.25] * 12])
    (2, 2)
    """
    return len(rows) if _are_curves(rows) else len(rows[0])


def _are_curves(rows: Sequence[Numbers]) -> bool:
    """Whether the lists are curves, not rows: they are long and few, or differ in length."""
    sizes = {len(row) for row in rows}
    return len(rows) == 1 or len(sizes) > 1 or max(sizes) >= max(LONG * len(rows), 10)


def _columns(rows: Sequence[Numbers], *, curves: bool) -> list[pl.Series]:
    """The lists if they are `curves`, else the columns of rows of equal length."""
    found = rows if curves else list(zip(*rows, strict=True))
    longest = max(map(len, found))
    return [
        pl.Series(f"column {k}", [*numbers, *[None] * (longest - len(numbers))], dtype=pl.Float64, strict=False)
        for k, numbers in enumerate(found[:MAX_CURVES])
    ]
