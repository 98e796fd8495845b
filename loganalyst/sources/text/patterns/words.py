"""Lines that words of a file of `rules/` describe: `closing.yaml` and `results.yaml`."""

from functools import cache

import polars as pl
from msgspec import field

from loganalyst.patterntraits import Examples
from loganalyst.rulefiles import Shape, Texts
from loganalyst.sources.text.patterns import unknownerrors


class Words(Shape, frozen=True):
    """Lines that have one of `literals` (any line without them), that one of `any` matches, and none of `exclude`."""

    any: Texts
    tests: Examples
    literals: Texts = ()
    exclude: Texts = field(default=(), name="not")

    def match(self, message: pl.Series) -> pl.Series:
        """Which messages, in lower case, are such lines. Without a literal in them, no regex is compiled."""
        held = message.str.contains_any(list(self.literals)) if self.literals else message.is_not_null()
        if held.any():
            held &= message.str.contains(either(self.any))
        return held & ~message.str.contains(either(self.exclude)) if self.exclude and held.any() else held


@cache
def either(regexes: Texts) -> str:
    """A regex that matches what one of the regexes matches, for ASCII letters and digits only.

    >>> either(("ab", "c"))
    '(?:ab)|(?:c)'
    """
    return "|".join(f"(?:{unknownerrors.ascii_only(regex)})" for regex in regexes)
