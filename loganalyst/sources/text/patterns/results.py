"""Results that a program printed: scores, reports, tables and the best settings of a search (`rules/results.yaml`)."""

from typing import Annotated

import polars as pl

from loganalyst.rulefiles import Shape, Texts, needed, ours
from loganalyst.sources.text.patterns.words import Words, either


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


def words() -> Results:
    """The words of `rules/results.yaml`. Raises RuleError.

    >>> words().last
    12
    """
    return ours("results.yaml", Results)


def are_results(message: pl.Series) -> pl.Series:
    """Which of the last messages of a log, in lower case and without decoration, are results.

    >>> are_results(pl.Series(["test accuracy: 0.93", "total accuracy", "0.9085", "score_threshold: 0.5"])).to_list()
    [True, True, False, False]
    """
    known = words()
    early = len(message) - known.last
    is_last = pl.Series(range(len(message)), dtype=pl.Int64) >= early
    held = (known.scores.match(message) & is_last) | known.exact.match(message)
    if held.any():
        held &= ~message.str.contains(either(known.never))
    headed = known.headings.match(message)
    if headed.any():
        headed &= known.values.match(message.shift(-1).fill_null(""))
    return held | known.best.match(message) | headed
