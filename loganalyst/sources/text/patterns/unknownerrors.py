"""Families of errors that no pattern knows, recognised by their words (`rules/wording.yaml`).

The message of an unknown program still names its subject: memory, a connection, a checkpoint. In plain words
`CUDAOutOfMemoryError`, `OUT_OF_MEMORY` and `out-of-memory` are the same.
"""

import re
from functools import cache

import msgspec
import numpy as np
import polars as pl
from msgspec import field
from numpy.typing import NDArray

from loganalyst.model.labels import LOG_LABELS
from loganalyst.patterntraits import Examples
from loganalyst.rulefiles import Shape, Text, Texts, load, ours, refuse_name, rules_dir

MAX_MESSAGE_CHARS = 600  # characters of a line that hold its subject
_PLAIN = (
    (r"\w+://\S+", " url "),  # `https://host/x`
    (r"(?:[A-Za-z]:)?(?:[\w.~-]*[\\/]){2,}([\w.+@-]*)", "$1"),  # `/data/run/x.pt` becomes `x.pt`
    *2 * ((r"([a-z\d])([A-Z][A-Za-z])", "$1 $2"),),  # `OutOfMemory`; twice, because matches would overlap
    (r"([A-Z])([A-Z][a-z])", "$1 $2"),  # `CUDAOut` becomes `CUDA Out`
    (r"[_-]+", " "),  # `out_of-memory`
)
_CLASSES = re.compile(r"\[\^?(?:\\.|[^\]\\])*\]|\\.")  # of a regex, and what is escaped
_ASCII = {r"\w": "0-9A-Za-z_", r"\d": "0-9", r"\s": r"\t-\r "}


class Family(msgspec.Struct, frozen=True):
    """Messages with one subject: in plain words `regex` and `also` match, `exclude` does not. `ending`: its words are
    so common that it applies only to a log's last words, not to exceptions printed earlier.
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
    level: Texts
    work: Texts
    complaint: Texts
    no_complaint: Texts
    wrapper: Texts
    wrapper_chat: Texts
    handled: Texts


class _File(Shape, frozen=True):
    speech: _Speech
    families: tuple[_FamilyEntry, ...]


@cache
def _file() -> _File:
    return ours("wording.yaml", _File)


@cache
def families() -> tuple[Family, ...]:
    """All of them, in the order in which they are asked. Raises RuleError."""
    found = _file().families
    for i, entry in enumerate(found):
        if entry.label not in LOG_LABELS:
            file = load(rules_dir() / "wording.yaml")
            refuse_name(file, ("families", i, "label"), entry.label, LOG_LABELS)
    return tuple(_family(entry) for entry in found)


@cache
def speech(kind: str) -> str:
    """The regex of lines that state an error (`error`) or sound like one (`complaint`), of lines that look so and
    report none (`no_error`, `no_complaint`), of the level of a log record (`level`), of ordinary work (`work`), of
    tools that echo the failed exit of a command (`wrapper`), of what these print besides (`wrapper_chat`), or that say
    what the program does about an error (`handled`). Raises RuleError.
    """
    return "|".join(f"(?:{ascii_only(regex)})" for regex in getattr(_file().speech, kind))


def plain(text: pl.Series) -> pl.Series:
    """Each text in plain words, in lower case."""
    words = text.str.head(MAX_MESSAGE_CHARS)
    for regex, instead in _PLAIN:
        words = words.str.replace_all(regex, instead)
    return words.str.to_lowercase()


def classify(text: pl.Series, last: NDArray[np.bool_]) -> pl.DataFrame:
    """The family of each error line: `pattern` (its id) and `label`, NULL where it belongs to none. `last`: which lines
    are last words of a log.
    """
    messages, found = plain(text), np.full(len(text), -1)
    for i, family in enumerate(families()):
        unknown = np.flatnonzero((found < 0) & (last | (not family.ending)))
        if not len(unknown):  # saves compiling the family's regex, which costs most
            continue
        found[unknown[_belongs(family, messages.gather(unknown))]] = i
    found_family = pl.Series(found).replace(-1, None)
    ids, labels = (
        pl.Series(words, dtype=pl.String) for words in zip(*((f.id, f.label) for f in families()), strict=True)
    )
    return pl.DataFrame([ids.gather(found_family).alias("pattern"), labels.gather(found_family).alias("label")])


def _belongs(family: Family, messages: pl.Series) -> NDArray[np.bool_]:
    """Which texts belong to the family."""
    held = messages.str.contains(family.regex)
    if family.also and held.any():
        held &= messages.str.contains(family.also)
    if family.exclude and held.any():
        held &= ~messages.str.contains(family.exclude)
    return held.to_numpy()


def ascii_only(regex: str) -> str:
    """The regex for ASCII letters and digits only, which compiles in half the time."""
    return _CLASSES.sub(_in_ascii, regex)


def _in_ascii(part: re.Match[str]) -> str:
    """One class or escape of a regex for ASCII."""
    text = part[0]
    if text == r"\b":
        return r"(?-u:\b)"
    if text in _ASCII:
        return f"[{_ASCII[text]}]"
    for escaped, chars in _ASCII.items() if text.startswith("[") else ():
        text = text.replace(escaped, chars)
    return text


def _family(entry: _FamilyEntry) -> Family:
    also, exclude = (ascii_only(regex) if regex else None for regex in (entry.also, entry.exclude))
    tests = entry.tests
    return Family(
        entry.id, entry.label, ascii_only(entry.regex), also, exclude, entry.ending, tests.match, tests.no_match
    )
