"""Candidate roles of thousands of names at once, by the same patterns as for a single name."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

MIN_BATCH = 200  # names from which one pass over all is faster than one after another


def candidates(names: Iterable[str], patterns: Sequence[Sequence[str]]) -> Mapping[str, Sequence[int]]:
    """By name the groups of `patterns` with a match, in order; names without a match are left out.

    `patterns` are regular expressions without look-around, which Python and Rust read alike.

    >>> candidates(["val_loss", "fps"], [["loss", "nll"], ["^val"]])
    {'val_loss': [0, 1]}
    """
    distinct = pl.Series("name", list(dict.fromkeys(names)), dtype=pl.String)
    regexes = ["|".join(f"(?:{pattern})" for pattern in group) for group in patterns]
    matched = distinct.filter(distinct.str.contains("|".join(filter(None, regexes))))
    found: dict[str, list[int]] = {}
    for number, regex in enumerate(regexes):
        for name in matched.filter(matched.str.contains(regex)) if regex else ():
            found.setdefault(name, []).append(number)
    return found
