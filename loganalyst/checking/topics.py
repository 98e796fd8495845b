"""The topics of `rules/settings/`: the settings that each looks up, and its checks. Loaded once."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import field

from loganalyst.checking.derived import DERIVED
from loganalyst.diagnosis.rulesql import Ask, parsed
from loganalyst.diagnosis.texttemplate import Template, template
from loganalyst.errors import RuleError
from loganalyst.features import declared
from loganalyst.features.settingnames import setting_names
from loganalyst.model import Feature, Publication, SettingSeverity
from loganalyst.rulefiles import (
    Finite,
    RuleFile,
    Shape,
    Text,
    Texts,
    load,
    needed,
    refuse_name,
    rules_dir,
    typed,
    yaml_files,
)

FOLDER = "settings"
SOURCES = "sources.yaml"
_DTYPES: Mapping[str, Literal["float", "bool", "text"]] = {"number": "float", "switch": "bool", "text": "text"}

Range = tuple[Finite, Finite]


class LookedUp(Shape, frozen=True):
    """A setting that is looked up: the ends of its dotted key, in the order in which they are tried.

    `listed`: the keys are this list of `rules/configured.yaml`, because a feature looks the same setting up.
    `words`: the value is the first name whose words are in the text; without one it is not known. `defaults`: the value
    where none of the keys is set, but one of these settings is, because it shows a program with this default.
    `neighbours`: a key of at most three letters counts only if one of these keys is at the same place, as
    `lr` is near `eps`.
    """

    meaning: Text
    keys: Texts = ()
    listed: Literal["planned_steps"] | None = None
    type: Literal["number", "text", "switch"] = "number"
    unit: str = ""
    words: dict[str, Texts] = field(default_factory=dict)
    defaults: dict[str, Texts] = field(default_factory=dict)
    neighbours: Texts = ()


class _Test(Shape, frozen=True):
    name: Text
    facts: dict[str, Any]
    found: SettingSeverity | Literal["usual", "silent"]


class _Check(Shape, frozen=True):
    """A check as its file states it: `of` a value with its ranges, or a question `ask` with a severity."""

    title: Text
    change: Text
    sources: Texts
    tests: tuple[_Test, ...]
    when: str = ""
    of: str = ""
    usual: Range | None = None
    possible: Range | None = None
    usually: str = ""
    low: str = ""
    high: str = ""
    ask: str = ""
    severity: SettingSeverity = "unusual"
    says: str = ""
    why: str = ""
    said_by: tuple[str, ...] = ()


class _Topic(Shape, frozen=True):
    title: Text
    page: Annotated[str, needed("the name of a page", pattern=r"^[a-z-]+$")]
    about: Text
    checks: dict[str, _Check]
    settings: dict[str, LookedUp] = field(default_factory=dict)


class Check(msgspec.Struct, frozen=True):
    """One check: it applies where `when` is true (None: always).

    With `usual`, the value `of` is unusual outside it and wrong outside `possible`. Otherwise a yes to `ask` is a
    finding of the `severity`. `names` are the facts that it asks about, `said_by` the notes that say the same.
    """

    id: str
    title: str
    severity: SettingSeverity
    when: Ask | None
    ask: Ask | None
    of: str
    usual: tuple[float, float] | None
    possible: tuple[float, float] | None
    usually: str
    low: str
    high: str
    says: Template | None
    why: str
    change: Template
    sources: tuple[Publication, ...]
    said_by: tuple[str, ...]
    tests: tuple[_Test, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The facts that decide, without those that decide whether it applies."""
        return (self.of,) if self.ask is None else self.ask.features


class Topic(msgspec.Struct, frozen=True):
    """A topic: a file of checks about one thing, on one `page` of the knowledge."""

    id: str
    title: str
    page: str
    about: str
    settings: Mapping[str, LookedUp]
    checks: tuple[Check, ...]


class _Source(Shape, frozen=True):
    author: Text
    year: int
    title: Text
    url: Annotated[str, needed("an address that begins with https://", pattern=r"^https://")]


def topics() -> tuple[Topic, ...]:
    """All topics, in the order of their files."""
    return _ours()[0]


def facts() -> Mapping[str, Feature]:
    """Every fact that a check may ask: features of the run, settings that are looked up, and derived values."""
    return _ours()[1]


@cache
def _ours() -> tuple[tuple[Topic, ...], Mapping[str, Feature]]:
    return read_topics(rules_dir() / FOLDER)


def read_topics(folder: Path) -> tuple[tuple[Topic, ...], Mapping[str, Feature]]:
    """The topics in a folder, and the facts that they may ask. Raises RuleError for the first fault."""
    files = [load(path) for path in yaml_files(folder) if path.name != SOURCES]
    known = typed(load(folder / SOURCES), dict[str, _Source])
    sources = {id_: Publication(s.author, s.year, s.title, s.url) for id_, s in known.items()}
    shapes = [_with_keys(typed(file, _Topic), file) for file in files]
    asked = _facts(shapes, files)
    return tuple(_topic(shape, file, asked, sources) for shape, file in zip(shapes, files, strict=True)), asked


def _with_keys(topic: _Topic, file: RuleFile) -> _Topic:
    """The topic with the keys of every setting. Raises RuleError for a setting without any."""
    named = {}
    for name, setting in topic.settings.items():
        keys = getattr(setting_names(), setting.listed) if setting.listed else setting.keys
        if not keys:
            raise RuleError(file.where("settings", name), f"{name!r} has no keys", "keys, or listed")
        named[name] = msgspec.structs.replace(setting, keys=keys)
    return msgspec.structs.replace(topic, settings=named)


@cache
def looked_up() -> Mapping[str, LookedUp]:
    """The settings of all topics, by name."""
    return {name: setting for topic in topics() for name, setting in topic.settings.items()}


def _facts(shapes: list[_Topic], files: list[RuleFile]) -> Mapping[str, Feature]:
    """The declarations of all facts. Raises RuleError for a name that stands twice."""
    found = {**declared(), **{fact.name: fact for fact in DERIVED}}
    for shape, file in zip(shapes, files, strict=True):
        for name, setting in shape.settings.items():
            if name in found:
                raise RuleError(file.where("settings", name), f"{name!r} exists already", "a fact is defined once")
            found[name] = Feature(name, _DTYPES[setting.type], setting.unit, setting.meaning, "config")
    return found


def _topic(shape: _Topic, file: RuleFile, known: Mapping[str, Feature], sources: Mapping[str, Publication]) -> Topic:
    checks = tuple(_checked(id_, check, file, known, sources) for id_, check in shape.checks.items())
    return Topic(file.path.stem, shape.title, shape.page, " ".join(shape.about.split()), shape.settings, checks)


def _checked(
    id_: str, found: _Check, file: RuleFile, known: Mapping[str, Feature], sources: Mapping[str, Publication]
) -> Check:
    """A check with its questions and texts. Raises RuleError for the first fault."""
    at = ("checks", id_)
    _refuse_half(found, file, at)
    _refuse_unknown(found, file, at, known, sources)

    def question(name: str, text: str) -> Ask | None:
        return file.checked((*at, name), lambda where: parsed(text, known, where)) if text else None

    def words(name: str, text: str) -> Template:
        return file.checked((*at, name), lambda where: template(" ".join(text.split()), known, where))

    return Check(
        id=id_,
        title=found.title,
        severity=found.severity,
        when=question("when", found.when),
        ask=question("ask", found.ask),
        of=found.of,
        usual=found.usual,
        possible=found.possible,
        usually=found.usually,
        low=" ".join(found.low.split()),
        high=" ".join(found.high.split()),
        says=words("says", found.says) if found.says else None,
        why=" ".join(found.why.split()),
        change=words("change", found.change),
        sources=tuple(sources[name] for name in found.sources),
        said_by=found.said_by,
        tests=found.tests,
    )


def _refuse_half(found: _Check, file: RuleFile, at: tuple[str, str]) -> None:
    """Raises RuleError for a check that has neither a range nor a question, or only half of one."""
    ranged = bool(found.of and found.usual and found.high)
    asked = bool(found.ask and found.says and found.why)
    if ranged == asked:
        raise RuleError(
            file.where(*at), "a check has either a range or a question", "of, usual, low, high; or ask, says, why"
        )


def _refuse_unknown(
    found: _Check, file: RuleFile, at: tuple[str, str], facts: Collection[str], sources: Collection[str]
) -> None:
    """Raises RuleError for a source, or a fact that the range is of, that does not exist."""
    for i, name in enumerate(found.sources):
        if name not in sources:
            refuse_name(file, (*at, "sources", i), name, sources)
    if found.of and found.of not in facts:
        refuse_name(file, (*at, "of"), found.of, facts)


__all__ = ["Check", "LookedUp", "Topic", "facts", "looked_up", "read_topics", "topics"]
