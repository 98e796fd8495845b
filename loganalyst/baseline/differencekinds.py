"""What kinds of differences there are and which matter: `rules/changes.yaml`, checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from loganalyst import rulefiles
from loganalyst.errors import RuleError
from loganalyst.model import Way

Section = Literal["config", "code", "versions", "place"]
_WAYS = ("up", "down", "any")
_SECTIONS = ("config", "code", "versions", "place")
LONGEST = 500  # last characters of a setting's key that are looked at: a glob of three stars takes their square


@dataclass(frozen=True)
class Kind:
    """One kind of difference: its `rank` (0 matters most) and which labels it can be behind, going which way."""

    name: str
    title: str
    rank: int
    section: Section
    last: re.Pattern[str]
    whole: re.Pattern[str]
    causes: Mapping[str, str]
    role: str | None = None

    def fits(self, key: str) -> bool:
        """Whether a setting of this dotted key is of this kind."""
        return bool(self.whole.fullmatch(key) or self.last.fullmatch(key.rpartition(".")[2]))

    def behind(self, label: str, way: Way | None) -> bool:
        """Whether a change that goes this `way` (None: no number) can be behind a cause of this label."""
        wanted = self.causes.get(label)
        return wanted == "any" or (wanted is not None and wanted == way)

    def mends(self, label: str, way: Way | None) -> bool:
        """Whether a change that goes this way takes back what can be behind a cause of this label."""
        wanted = self.causes.get(label)
        return wanted == "any" or (wanted is not None and way is not None and wanted != way)


@dataclass(frozen=True)
class FailedFixes:
    """From how many failed fixes on a cause is lowered, and by how much log-odds: of different fixes, of the same."""

    count: int
    different: float
    same: float


@dataclass(frozen=True)
class Kinds:
    """The whole file; `any_setting` are labels that any setting can lead to, by another path through the code."""

    kinds: Mapping[str, Kind]
    ignored: re.Pattern[str]
    too_many: int
    any_setting: frozenset[str]
    failed: FailedFixes

    def of(self, key: str) -> Kind | None:
        """The kind of a setting by its dotted key; None for one that changes nothing."""
        plain = ".".join(part for part in key.lower().replace("-", "_").split(".") if not part.isdecimal())[-LONGEST:]
        if self.ignored.fullmatch(plain):
            return None
        return next((kind for kind in self.kinds.values() if kind.fits(plain)), None)


@cache
def kinds() -> Kinds:
    """`rules/changes.yaml`. RuleError where it is not valid."""
    file = rulefiles.load(rulefiles.rules_dir() / "changes.yaml")
    file.check_keys((), ("too_many", "any_setting", "failed_fixes", "ignored", "kinds"))
    file.check_keys(("failed_fixes",), ("count", "different", "same"))
    return Kinds(
        kinds={name: _kind(file, name, rank) for rank, name in enumerate(file.data["kinds"])},
        ignored=_pattern(file.data["ignored"]),
        too_many=int(file.data["too_many"]),
        any_setting=frozenset(file.data["any_setting"]),
        failed=FailedFixes(**file.data["failed_fixes"]),
    )


def _kind(file: rulefiles.RuleFile, name: str, rank: int) -> Kind:
    at = ("kinds", name)
    file.check_keys(at, ("title", "keys", "causes"), ("section", "role"))
    entry = file.get(at)
    for label, way in entry["causes"].items():
        if way not in _WAYS:
            raise RuleError(file.where(*at, "causes", label), f"found {way!r}", f"one of {', '.join(_WAYS)}")
    section = entry.get("section", "config")
    if section not in _SECTIONS:
        raise RuleError(file.where(*at, "section"), f"found {section!r}", f"one of {', '.join(_SECTIONS)}")
    last, whole = ([glob for glob in entry["keys"] if ("." in glob) is dotted] for dotted in (False, True))
    patterns = _pattern(last), _pattern(whole)
    return Kind(name, entry["title"], rank, section, *patterns, entry["causes"], entry.get("role"))


def _pattern(globs: Sequence[str]) -> re.Pattern[str]:
    """One pattern for all; without any it fits nothing. (That of `fnmatch` has atomic groups.)"""
    parts = ("".join(".*" if c == "*" else re.escape(c) for c in glob) for glob in globs)
    return re.compile("|".join(parts) or r"(?!)", re.DOTALL)
