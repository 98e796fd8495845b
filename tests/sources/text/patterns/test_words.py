"""Lines that words of a file describe."""

import polars as pl

from loganalyst.patterntraits import Examples
from loganalyst.sources.text.patterns.words import Words, either


def test_literals_and_exclusions() -> None:
    """A line needs a literal, one of the regexes, and none of the exclusions."""
    words = Words(any=(r"\d",), tests=Examples(("a1",), ("b",)), literals=("a",), exclude=("z",))

    assert words.match(pl.Series(["a1", "b1", "a", "a1z"])).to_list() == [True, False, False, False]


def test_words_without_literals() -> None:
    """Any line may be one."""
    assert Words(any=("x",), tests=Examples(("x",), ("b",))).match(pl.Series(["ax", "b"])).to_list() == [True, False]


def test_either() -> None:
    """Only ASCII letters count as words, since such regexes compile faster."""
    assert pl.Series(["é"]).str.contains(either((r"\w", "zz"))).to_list() == [False]
