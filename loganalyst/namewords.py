"""Words in names of metrics (`rules/words.yaml`), for whoever reads names: the logs' reader and the roles."""

import re
from functools import cache, lru_cache
from typing import Literal

from loganalyst.rulefiles import Shape, ours


class Measures(Shape, frozen=True):
    """Regexes of measures' names, words joined by `_`: `scores` are better the higher they are, `errors` the lower. The
    best value of `unbounded` scores is neither 1 nor 100. A constant answer has 0 or 1/2 where a name says `by_chance`.
    """

    scores: tuple[str, ...]
    errors: tuple[str, ...]
    unbounded: tuple[str, ...]
    zero_by_chance: tuple[str, ...]
    half_by_chance: tuple[str, ...]

    def of(self, kind: Literal["scores", "errors"]) -> tuple[str, ...]:
        """Those of one kind."""
        return self.scores if kind == "scores" else self.errors


class FileWords(Shape, frozen=True):
    """Words in names of files: `histories` are those of the `fillers` that say that a file holds a course, `fractions`
    those of the `measures` that are no whole numbers.
    """

    measures: frozenset[str]
    sets: frozenset[str]
    quantities: frozenset[str]
    fillers: frozenset[str]
    histories: frozenset[str]
    fractions: frozenset[str]


class WordFile(Shape, frozen=True):
    """The whole file."""

    languages: dict[str, str]
    plurals: dict[str, str]
    list_words: frozenset[str]
    over_time: tuple[str, ...]
    printed: tuple[str, ...]
    training: frozenset[str]
    measures: Measures
    files: FileWords
    epochs: tuple[str, ...]


@cache
def word_file() -> WordFile:
    """The file, read once."""
    return ours("words.yaml", WordFile)


@lru_cache(1 << 16)  # few words make many names
def in_english(lower: str) -> str:
    """A text in lower case with the known words of other languages in English.

    >>> in_english("validierungsverlust"), in_english("val loss")
    ('val loss', 'val loss')
    """
    if not _other_languages().search(lower):
        return lower
    for pattern, english in _languages():
        lower = pattern.sub(f" {english} ", lower)
    return " ".join(lower.split())


@cache
def _languages() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), word) for pattern, word in word_file().languages.items())


@cache
def _other_languages() -> re.Pattern[str]:
    """Anything that one of `_languages` matches."""
    return re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _languages()))
