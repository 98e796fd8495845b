"""Delimited text as cells, and cells as numbers."""

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.files.lineblocks import Block
from loganalyst.sources.tables import cells


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["a,b,c", "1,2,3"], ","),
        (["a;b", "1,5;2,5"], ";"),
        (["a\tb", "1\t2"], "\t"),
        (['"x,y"|b', '"z"|2'], "|"),
    ],
)
def test_separator(lines, separator):
    """The delimiter with the same count in most lines; decimal commas and quotes do not count."""
    assert cells.separator(lines) == separator


def test_rows():
    """Blank lines and comments are skipped; a broken quote costs its line only."""
    frame, broken = cells.rows(Block(b'# seed\na,b\n\n1,"x\ny"\n2,"z\n3,4\n', 1, 0), ",")

    assert frame["line"].to_list() == [2, 4, 7]
    assert frame["cells"].to_list() == [["a", "b"], ["1", "x\ny"], ["3", "4"]]
    assert broken == [6]


def test_numbers():
    """Odd spellings of NaN, infinity and wrapped numbers are read; lists are not."""
    texts = ["1.5", "nan", "1e999", "-1.#INF", "1.#QNAN", "tensor(0.5, device='cuda:0')", "[0.25]", "[1, 2]", "x"]
    found = cells.numbers(pl.Series(texts)).to_list()

    assert found[0] == 1.5
    assert math.isnan(found[1])
    assert found[2:4] == [math.inf, -math.inf]
    assert math.isnan(found[4])
    assert found[5:] == [0.5, 0.25, None, None]
    assert cells.numbers(pl.Series(["0,5"]), decimal_comma=True).to_list() == [0.5]


def test_kinds_of_rows():
    """Rows of numbers, with and without empty cells."""
    assert cells.numeric(["1", "", "n/a"])
    assert not cells.numeric(["", "-"])
    assert not cells.numeric(["1", "x"])
    assert cells.all_numbers(["1", "2.5"])
    assert not cells.all_numbers(["1", "x"])


def test_columns():
    """Short rows are filled with NULL, and words for no value become NULL."""
    frame = pl.DataFrame({"line": [2, 3], "cells": [["1", " n/a "], ["2"]]})
    found = cells.columns(frame, ["a", "b"], decimal_comma=False)

    assert found.values["a"].to_list() == [1.0, 2.0]
    assert found.texts["b"].to_list() == [None, None]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["45.2%", "46 %", "-1e1%", "50"], [45.2, 46.0, -10.0, 50.0]),
        (["12.3s", "13s", "0"], [12.3, 13.0, 0.0]),
        (["4.2GB", "4.25 GB"], [4.2, 4.25]),
        (["1.5it/s", "2 it/s"], [1.5, 2.0]),
        (["1.5GB", "900MB"], [None, None]),
        (["12.3s", "5"], [None, 5.0]),  # minutes?
        (["10k", "11k"], [None, None]),  # a factor
        (["%", "a%", "1.2.3s"], [None, None, None]),
    ],
)
def test_numbers_with_a_unit(texts, found):
    """All cells have the same unit; where units differ, the numbers cannot be compared."""
    assert cells.numbers(pl.Series(texts)).to_list() == found


def test_rows_with_units_are_numbers():
    """One cell of each column: their units differ."""
    assert cells.numeric(["1", "45.2%", "12.3s"])
    assert not cells.numeric(["epoch", "acc%", "time"])


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.sampled_from(["%", " %", "s", "ms", "GB"]),
)
def test_a_unit_does_not_change_numbers(values, unit):
    """As Python writes them."""
    assert cells.numbers(pl.Series([f"{value!r}{unit}" for value in values])).to_list() == values
