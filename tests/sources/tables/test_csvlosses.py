"""Rows and cells that could not be used."""

from pathlib import Path

import polars as pl

from loganalyst.sources.files.lineblocks import Block
from loganalyst.sources.tables.cells import Rows
from loganalyst.sources.tables.csvlosses import Losses
from loganalyst.sources.tables.nulbytes import Hole


def reasons(losses: Losses) -> list[tuple]:
    return [row for frame in losses.gaps() for row in frame.select("offset", "bytes", "why").rows()]


def test_whole_rows():
    """Rows with too many cells and a row cut off at the end are left out; short rows are kept."""
    block = Block(b"1,2,3\n4,5,6,7\n8,9\n0,1", 1, 100)
    frame = pl.DataFrame({"line": [1, 2, 3, 4], "cells": [list("123"), list("4567"), list("89"), list("01")]})
    losses = Losses(Path("x.csv"))
    kept = losses.whole_rows(frame, block, 3)

    assert kept["line"].to_list() == [1, 3]
    assert reasons(losses) == [
        (106, 8, "1 rows with more than 3 cells, the first in line 2"),
        (118, 3, "1 row is cut off, the first in line 4"),
        (114, 4, "1 rows with fewer than 3 cells (read as far as they go), the first in line 3"),
    ]


def test_odd_cells():
    """Counted per column, with the first as an example."""
    rows = Rows(pl.Series([2, 3]), {"loss": pl.Series(["0.5", "oops"])}, {"loss": pl.Series([0.5, None])})
    losses = Losses(Path("x.csv"))
    losses.odd_cells("loss", rows, Block(b"0.5\noops\n", 2, 5))

    assert reasons(losses) == [(9, 5, "1 cells of column 'loss' are not numbers, the first in line 3: 'oops'")]


def test_holes():
    """Twenty stretches of NUL bytes get a row each; further ones are counted."""
    losses = Losses(Path("x.csv"))
    for i in range(22):
        losses.zeroed(Hole(10 * i, 5, i + 1))
    found = reasons(losses)

    assert found[0] == (0, 5, "NUL bytes from line 1 on")
    assert found[-1] == (200, None, "2 more stretches of NUL bytes, the first in line 21")
    assert len(found) == 21
