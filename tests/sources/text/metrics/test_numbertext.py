"""Numbers as programs print them."""

import re

import polars as pl

from loganalyst.sources.text.metrics.numbertext import NUMBER, as_number

NUMBERS = ("0.5", "3", "5.", ".5", "-1e-5", "+1.5E3", "nan", "-INF")
OTHERS = ("1.2.3", "nano", "1e", "--1", "")


def test_each_number_and_nothing_else_is_one() -> None:
    texts = pl.Series([*NUMBERS, *OTHERS])

    assert texts.str.contains(f"^{NUMBER}$").to_list() == [True] * len(NUMBERS) + [False] * len(OTHERS)
    assert [text for text in NUMBERS if not re.fullmatch(NUMBER, text)] == []


def test_numbers_have_their_values() -> None:
    values = pl.DataFrame({"text": ["-1e-5", "+1.5E3", "-INF", "x"]}).select(as_number(pl.col("text")))

    assert values.to_series().to_list() == [-1e-5, 1500.0, float("-inf"), None]
