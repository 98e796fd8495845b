"""A user's own patterns, of `text/*.yaml` and `trainers/*.yaml` in a folder of rules: they claim a line before ours of
the same part.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from loganalyst import rulefiles
from loganalyst.errors import RuleError
from loganalyst.sources.text.patterns import catalogue, trainerlines
from loganalyst.sources.text.patterns.catalogue import Pattern
from loganalyst.trainerfiles import FOLDER, trainer_files


class OwnPatterns(NamedTuple):
    """Folders of rules, and a digest of their patterns and trainers (empty where there are none)."""

    folders: tuple[Path, ...] = ()
    stamp: str = ""


_NONE = OwnPatterns()
_here: ContextVar[OwnPatterns] = ContextVar("own", default=_NONE)


def find(folders: Sequence[Path]) -> OwnPatterns:
    """The patterns of these folders, as they are now."""
    files = [file for folder in folders for file in (*_files(folder), *rulefiles.yaml_files(folder, FOLDER))]
    return OwnPatterns(tuple(folders), rulefiles.digest(files)) if files else _NONE


@contextmanager
def reading_with(folders: Sequence[Path]) -> Iterator[None]:
    """Within this context, logs are read with our patterns and the valid patterns of these folders."""
    before = _here.set(find(folders))
    try:
        yield
    finally:
        _here.reset(before)


def here() -> OwnPatterns:
    """The user's patterns that apply now."""
    return _here.get()


@cache
def known(own: OwnPatterns) -> tuple[Pattern, ...]:
    """Our patterns and the valid ones of the folders, in the order in which they claim a line."""
    return catalogue.ordered([*_read(own)[0], *_of_trainers(own)[0], *catalogue.catalogue()])


@cache
def also(own: OwnPatterns, words: tuple[str, ...]) -> catalogue.Also:
    """The texts to search for besides the patterns' literals: `words`, and those that point to a trainer."""
    return catalogue.Also(words, trainerlines.witnesses(trainer_files(own.folders)))


def faults(own: OwnPatterns) -> tuple[RuleError, ...]:
    """The errors in patterns of the folders; such patterns are left out."""
    return (*_read(own)[1], *_of_trainers(own)[1])


def tested(own: OwnPatterns) -> Iterator[tuple[str, str, str]]:
    """The tests of the folders' valid patterns: id, the test, and why it fails (empty where it passes)."""
    for pattern in _read(own)[0]:
        claimed, refused = _claims(pattern.match, known(own)), _claims(pattern.no_match, (pattern,))
        for i, text in enumerate(pattern.match):
            yield pattern.id, f"matches {text!r}", _why_missed(pattern, text, claimed.get(i))
        for i, text in enumerate(pattern.no_match):
            yield pattern.id, f"does not match {text!r}", "it does" if i in refused else ""


def _claims(texts: Sequence[str], among: Sequence[Pattern]) -> dict[int, str]:
    """The pattern that claims each text, by the text's place."""
    return dict(catalogue.match(pl.Series(texts, dtype=pl.String), among).select("row", "pattern").iter_rows())


def _why_missed(pattern: Pattern, text: str, claim: str | None) -> str:
    """Why the pattern does not claim a text that it should (empty where it does)."""
    if claim == pattern.id:
        return ""
    if _claims([text], (pattern,)):
        return f"{claim!r} claims it first"
    return "it does not" if any(word in text for word in pattern.literals) else "none of its literals is in it"


@cache
def _read(own: OwnPatterns) -> tuple[tuple[Pattern, ...], tuple[RuleError, ...]]:
    """The valid patterns of the folders, and the errors of the others."""
    valid, errors = dict[str, Pattern](), list[RuleError]()
    taken = {pattern.id: pattern for pattern in catalogue.catalogue()} if own.stamp else {}
    for file in [file for folder in own.folders for file in _files(folder)]:
        for pattern in _patterns(file):
            if isinstance(pattern, RuleError):
                errors.append(pattern)
            elif pattern.id in taken:
                errors.append(catalogue.duplicate_id(pattern, taken[pattern.id]))
            else:
                valid[pattern.id] = taken[pattern.id] = pattern
    return tuple(valid.values()), tuple(errors)


@cache
def _of_trainers(own: OwnPatterns) -> tuple[tuple[Pattern, ...], tuple[RuleError, ...]]:
    """The valid patterns of the folders' trainers, and the errors of the others. Files that are no trainers at all are
    reported with the trainers.
    """
    named = {pattern.id: pattern for pattern in catalogue.catalogue()}
    ours = {line.place for line in trainerlines.lines(trainer_files())}
    valid, errors = list[Pattern](), list[RuleError]()
    for line in trainerlines.lines(trainer_files(own.folders)):
        pattern = catalogue.of_trainer(line, named)
        try:
            if line.place in ours:
                continue
            catalogue.check_regex(line.place.where, line.regex)
            if not _claims(pattern.match, (pattern,)):
                raise RuleError(line.place.where, f"the example {line.example!r} does not match", "a line that does")
            valid.append(pattern)
        except RuleError as error:
            errors.append(error)
    return tuple(valid), tuple(errors)


def _files(folder: Path) -> list[Path]:
    return rulefiles.yaml_files(folder, "text")


def origins(own: OwnPatterns) -> dict[str, str]:
    """The file of each valid pattern of the folders, by the pattern's id."""
    return {pattern.id: str(pattern.place.path) for pattern in _read(own)[0]}


def _patterns(file: Path) -> list[Pattern | RuleError]:
    """The patterns of one file, or the errors in them."""
    try:
        return list(catalogue.checked(rulefiles.load(file)))
    except RuleError as error:
        return [error]
