"""Blocks of numbers that wait in a file."""

import numpy as np

from loganalyst.sources.text.lines import tablespool
from loganalyst.sources.text.lines.numberrecords import Counted, Points

NAN = np.nan


def test_blocks_in_a_file_come_back() -> None:
    """All blocks in their order: those in the file, and the last in memory."""
    whole, real, mark = np.arange(3), np.array([1.5, NAN, -0.0]), np.array([True, False, True])
    time = np.array(["2024-05-01T10:00:00.5", "NaT", "2024-05-02"], "M8[us]")
    block = (
        Counted(whole, whole, whole, mark, mark, mark, mark, mark, real, real, real, real),
        Points(whole, whole.astype(np.uint32), real, whole, time),
    )
    waiting = tablespool.Spool(700)
    for _ in range(3):
        waiting.add(block)
    waiting.add((block[0][:1], block[1][:0]))

    assert [len(records) for records, _ in waiting] == [3, 3, 3, 1]
    assert waiting.written
    assert waiting.held
    for records, points in list(waiting)[:3]:
        for given_, got in zip(
            [*block[0].columns(), *block[1].columns()], [*records.columns(), *points.columns()], strict=True
        ):
            assert got.dtype == given_.dtype
            assert np.array_equal(got, given_, equal_nan=given_.dtype.kind in "fM")
