"""Results that a program printed: scores, reports, tables and the best settings of a search (`rules/results.yaml`)."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated

import polars as pl

from loganalyst.rulefiles import Shape, Texts, needed, ours
from loganalyst.sources.text.patterns.words import Words, either

_VALUE = r"\d\.\d|\d ?%"  # `0.93`, `93 %`


class Results(Shape, frozen=True):
    """The file. `scores` count among the `last` lines, `exact` scores in all that are read of the end, unless one of
    `never` matches; `best` settings count in all. A line of `headings` is a result if `values` follow it.
    """

    last: Annotated[int, needed("a whole number above 0", ge=1)]
    never: Texts
    scores: Words
    exact: Words
    best: Words
    headings: Words
    values: Words


@cache
def words() -> Results:
    """The words of `rules/results.yaml`. Raises RuleError.

    >>> words().last
    12
    """
    return ours("results.yaml", Results)


def are_results(message: pl.Series) -> pl.Series:
    """Which of the last messages of a log, in lower case and without decoration, are results.

    The kinds are searched one after the other, until there is a result: most of the time goes into compiling regexes.

    >>> are_results(pl.Series(["test accuracy: 0.93", "total accuracy", "score_threshold: 0.5"])).to_list()
    [True, False, False]
    """
    kinds = _kinds(message, words())
    none = pl.repeat(value=False, n=len(message), eager=True)
    return next((held for held in kinds if held.any()), none)


def is_one_score(message: pl.Series) -> pl.Series:
    """Which of these results are a single number, and no row of a report, heading or best setting of a search.

    >>> is_one_score(pl.Series(["test accuracy: 0.93", "best k: 5", "macro avg 0.91 0.92 0.91"])).to_list()
    [True, False, False]
    """
    return (message.str.count_matches(_VALUE) == 1) & ~words().best.match(message)


def _kinds(message: pl.Series, known: Results) -> Iterator[pl.Series]:
    """For each kind, which messages are such results."""
    is_last = pl.Series(range(len(message)), dtype=pl.Int64) >= len(message) - known.last
    yield _judged(known.scores.match(message) & is_last, message, known)
    yield _judged(known.exact.match(message), message, known)
    yield known.best.match(message)
    headed = known.headings.match(message)
    yield headed & known.values.match(message.shift(-1).fill_null("")) if headed.any() else headed


def _judged(held: pl.Series, message: pl.Series, known: Results) -> pl.Series:
    """Those of the messages that are no setting."""
    return held & ~message.str.contains(either(known.never)) if held.any() else held
