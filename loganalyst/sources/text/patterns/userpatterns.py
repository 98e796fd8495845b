"""A user's own patterns, `text/*.yaml` in a folder of rules: they claim a line before ours of the same part do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from loganalyst import rulefiles
from loganalyst.errors import RuleError
from loganalyst.sources.text.patterns import catalogue
from loganalyst.sources.text.patterns.catalogue import Pattern


class Own(NamedTuple):
    """Folders of rules, and a stamp of the patterns in them (empty where there are none)."""

    folders: tuple[Path, ...] = ()
    stamp: str = ""


_NONE = Own()
_here: ContextVar[Own] = ContextVar("own", default=_NONE)


def of(folders: Sequence[Path]) -> Own:
    """The patterns of these folders, as they are now."""
    files = [file for folder in folders for file in _files(folder)]
    return Own(tuple(folders), rulefiles.digest(files)) if files else _NONE


@contextmanager
def beside(folders: Sequence[Path]) -> Iterator[None]:
    """Within, logs are read with the sound patterns of these folders beside ours."""
    before = _here.set(of(folders))
    try:
        yield
    finally:
        _here.reset(before)


def here() -> Own:
    """Those that hold here."""
    return _here.get()


@cache
def known(own: Own) -> tuple[Pattern, ...]:
    """Ours and the sound ones of the folders, in the order in which they claim a line."""
    return catalogue.ordered([*_read(own)[0], *catalogue.catalogue()])


def faults(own: Own) -> tuple[RuleError, ...]:
    """What is wrong with patterns of the folders; those are left out."""
    return _read(own)[1]


def tested(own: Own) -> Iterator[tuple[str, str, str]]:
    """The tests of the folders' sound patterns: id, the test, and what is wrong (empty where it passes)."""
    for pattern in _read(own)[0]:
        claimed, refused = _claims(pattern.match, known(own)), _claims(pattern.no_match, (pattern,))
        for i, text in enumerate(pattern.match):
            yield pattern.id, f"matches {text!r}", _missed(pattern, text, claimed.get(i))
        for i, text in enumerate(pattern.no_match):
            yield pattern.id, f"does not match {text!r}", "it does" if i in refused else ""


def _claims(texts: Sequence[str], among: Sequence[Pattern]) -> dict[int, str]:
    """The pattern that claims each text, by its place."""
    return dict(catalogue.match(pl.Series(texts, dtype=pl.String), among).select("row", "pattern").iter_rows())


def _missed(pattern: Pattern, text: str, claim: str | None) -> str:
    """Why a text that the pattern is for is not its own."""
    if claim == pattern.id:
        return ""
    if _claims([text], (pattern,)):
        return f"{claim!r} claims it first"
    return "it does not" if any(word in text for word in pattern.literals) else "none of its literals is in it"


@cache
def _read(own: Own) -> tuple[tuple[Pattern, ...], tuple[RuleError, ...]]:
    """The sound patterns of the folders, and the faults of the others."""
    sound, wrong = dict[str, Pattern](), list[RuleError]()
    where = {pattern.id: pattern.where for pattern in catalogue.catalogue()} if own.stamp else {}
    for file in [file for folder in own.folders for file in _files(folder)]:
        for pattern in _patterns(file):
            if isinstance(pattern, RuleError):
                wrong.append(pattern)
            elif pattern.id in where:
                wrong.append(catalogue.twice(pattern, where[pattern.id]))
            else:
                sound[pattern.id], where[pattern.id] = pattern, pattern.where
    return tuple(sound.values()), tuple(wrong)


def _files(folder: Path) -> list[Path]:
    return rulefiles.yaml_files(folder, "text")


def origins(own: Own) -> dict[str, str]:
    """The file that each sound pattern of the folders stands in, by the pattern's id."""
    return {pattern.id: pattern.where.rpartition(":")[0] for pattern in _read(own)[0]}


def _patterns(file: Path) -> list[Pattern | RuleError]:
    try:
        return list(catalogue.checked(rulefiles.load(file)))
    except RuleError as error:
        return [error]
