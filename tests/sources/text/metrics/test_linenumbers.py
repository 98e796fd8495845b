"""The numbers of one batch, as records and points."""

import numpy as np
import polars as pl

from loganalyst.sources.text.lines.numberrecords import NONE
from loganalyst.sources.text.metrics import printedtables
from loganalyst.sources.text.metrics.linenumbers import Numbers
from loganalyst.sources.text.metrics.lineshapes import Shape, Slot


def numbers() -> Numbers:
    """Two lines `step 1 loss 0.5` in rows 4 and 2, and a line with only a step in row 3."""
    found = Numbers({"loss": 7, "acc": 8}.__getitem__)
    shape = Shape((Slot(0, "step"), Slot(1, "metric", "loss")))
    found.add(shape, np.array([4, 2]), [np.array([2.0, 1.0]), np.array([0.25, 0.5])])
    found.add(Shape((Slot(0, "step"),)), np.array([3]), [np.array([2.0**60])])
    return found


def test_records_and_points_come_in_file_order() -> None:
    """A step that a Float64 cannot hold is none."""
    session, line, time = np.arange(5) // 3, np.arange(10, 15), np.full(5, "NaT", "M8[us]")
    records, points = numbers().placed(100, session, line, time)

    assert records.row.tolist() == [102, 103, 104]
    assert records.session.tolist() == [0, 1, 1]
    assert records.series.tolist() == [7, NONE, 7]
    np.testing.assert_array_equal(records.step, [1, np.nan, 2])
    assert (points.row.tolist(), points.line.tolist()) == ([104, 102], [14, 12])
    assert (points.metric.tolist(), points.value.tolist()) == ([7, 7], [0.25, 0.5])


def test_rows_of_a_table_replace_lines() -> None:
    """A record of two rows, whose number stands in the first."""
    found = numbers()
    found.drop(np.array([2, 3]))
    cells = [(1, 0, *(False,) * 4, "metric", "acc", 0.9), (1, 1, *(False,) * 4, "step", "step", 5.0)]
    found.add_long(pl.DataFrame(cells, printedtables.SCHEMA, orient="row"))
    records, points = found.placed(0, np.zeros(5, np.int64), np.arange(5), np.full(5, "NaT", "M8[us]"))

    assert sorted(found.rows().tolist()) == [0, 1, 4]
    assert (records.row.tolist(), records.step.tolist(), records.series.tolist()) == ([1, 4], [5, 2], [8, 7])
    assert (points.metric.tolist(), points.line.tolist(), points.value.tolist()) == ([8, 7], [0, 4], [0.9, 0.25])
