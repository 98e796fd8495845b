"""What an error that no pattern knows speaks of, told by its words (`rules/wording.yaml`).

A message of a program we have never met still speaks of something: of memory, a connection, a checkpoint. In plain
words `CUDAOutOfMemoryError`, `OUT_OF_MEMORY` and `out-of-memory` are the same, whoever prints them.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from msgspec import field
from numpy.typing import NDArray

from loganalyst.patterntraits import Examples
from loganalyst.rulefiles import Shape, Text, Texts, load, ours, refuse_name, rules_dir, typed
from loganalyst.sources.text.patterns.catalogue import LABELS

SAID = 600  # characters of a line in which it says what it is about
_PLAIN = (
    (r"\w+://\S+", " url "),
    (r"(?:[A-Za-z]:)?(?:[\w.~-]*[\\/]){2,}([\w.+@-]*)", "$1"),  # of a path its last name
    *2 * ((r"([a-z\d])([A-Z][A-Za-z])", "$1 $2"),),  # twice: the first time takes what begins the next
    (r"([A-Z])([A-Z][a-z])", "$1 $2"),
    (r"[_-]+", " "),
)
_CLASSES = re.compile(r"\[\^?(?:\\.|[^\]\\])*\]|\\.")  # of a regex, and what is escaped
_ASCII = {r"\w": "0-9A-Za-z_", r"\d": "0-9", r"\s": r"\t-\r "}


@dataclass(frozen=True)
class Family:
    """Messages that speak of one thing: in plain words `regex` and `also` match, `exclude` does not. `ending`: so many
    words are in it that only a log's last words are taken for it, no exception that is printed in its midst.
    """

    id: str
    label: str
    regex: str
    also: str | None
    exclude: str | None
    ending: bool
    match: tuple[str, ...]
    no_match: tuple[str, ...]


class _FamilyEntry(Shape, frozen=True):
    id: Text
    label: Text
    regex: Text
    tests: Examples
    also: Text | None = None
    exclude: Text | None = field(default=None, name="not")
    ending: bool = False


class _Speech(Shape, frozen=True):
    error: Texts
    no_error: Texts
    complaint: Texts
    no_complaint: Texts


class _File(Shape, frozen=True):
    speech: _Speech
    families: tuple[_FamilyEntry, ...]


@cache
def families() -> tuple[Family, ...]:
    """All of them, in the order in which they are asked. Raises RuleError."""
    file = load(rules_dir() / "wording.yaml")
    found = typed(file, _File).families
    for i, entry in enumerate(found):
        if entry.label not in LABELS:
            refuse_name(file, ("families", i, "label"), entry.label, LABELS)
    return tuple(_family(entry) for entry in found)


@cache
def speech(kind: str) -> str:
    """The regex of lines that say of themselves that they tell of an error (`error`), or only sound so (`complaint`),
    and of those that do not although they look so (`no_error`, `no_complaint`). Raises RuleError.
    """
    return "|".join(f"(?:{_ascii(regex)})" for regex in getattr(ours("wording.yaml", _File).speech, kind))


def plain(text: pl.Series) -> pl.Series:
    """Each text in plain words, in lower case."""
    said = text.str.head(SAID)
    for regex, instead in _PLAIN:
        said = said.str.replace_all(regex, instead)
    return said.str.to_lowercase()


def told(text: pl.Series, last: NDArray[np.bool_]) -> pl.DataFrame:
    """The family of each line of an error: `pattern` (its id) and `label`, NULL where its words are of none. `last`:
    which are last words of a log.
    """
    said, found = plain(text), np.full(len(text), -1)
    for i, one in enumerate(families()):
        open_ = np.flatnonzero((found < 0) & (last | (not one.ending)))
        if not len(open_):  # regexes that are not asked are not compiled, which is what costs
            continue
        found[open_[_holds(one, said.gather(open_))]] = i
    which = pl.Series(found).replace(-1, None)
    ids, labels = (
        pl.Series(words, dtype=pl.String) for words in zip(*((f.id, f.label) for f in families()), strict=True)
    )
    return pl.DataFrame([ids.gather(which).alias("pattern"), labels.gather(which).alias("label")])


def _holds(one: Family, said: pl.Series) -> NDArray[np.bool_]:
    held = said.str.contains(one.regex)
    if one.also and held.any():
        held &= said.str.contains(one.also)
    if one.exclude and held.any():
        held &= ~said.str.contains(one.exclude)
    return held.to_numpy()


def _ascii(regex: str) -> str:
    """The same for ASCII's letters and digits alone, which takes half the time to compile."""
    return _CLASSES.sub(_in_ascii, regex)


def _in_ascii(part: re.Match[str]) -> str:
    text = part[0]
    if text == r"\b":
        return r"(?-u:\b)"
    if text in _ASCII:
        return f"[{_ASCII[text]}]"
    for escaped, chars in _ASCII.items() if text.startswith("[") else ():
        text = text.replace(escaped, chars)
    return text


def _family(entry: _FamilyEntry) -> Family:
    also, exclude = (_ascii(regex) if regex else None for regex in (entry.also, entry.exclude))
    tests = entry.tests
    return Family(entry.id, entry.label, _ascii(entry.regex), also, exclude, entry.ending, tests.match, tests.no_match)
