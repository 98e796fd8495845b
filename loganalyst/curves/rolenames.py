"""Which of many names may have a role: thousands of names at once, by the same patterns as one name by itself."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

MANY = 200  # names from which this is faster than to ask the patterns for one name after another


def candidates(names: Iterable[str], patterns: Sequence[Sequence[str]]) -> Mapping[str, Sequence[int]]:
    """By name the groups of `patterns` (regular expressions without look-around, as Python and Rust read them) of which
    one stands in it, in order; names of no group are left out.

    >>> candidates(["val_loss", "fps"], [["loss", "nll"], ["^val"]])
    {'val_loss': [0, 1]}
    """
    asked = pl.Series("name", list(dict.fromkeys(names)), dtype=pl.String)
    regexes = ["|".join(f"(?:{pattern})" for pattern in group) for group in patterns]
    some = asked.filter(asked.str.contains("|".join(filter(None, regexes))))
    found: dict[str, list[int]] = {}
    for number, regex in enumerate(regexes):
        for name in some.filter(some.str.contains(regex)) if regex else ():
            found.setdefault(name, []).append(number)
    return found
