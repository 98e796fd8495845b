"""The kinds of differences between runs, and how much they matter, from `rules/changes.yaml`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from loganalyst.model import Way
from loganalyst.rulefiles import Shape, Text, ours

Section = Literal["config", "code", "versions", "place"]
MAX_KEY = 500  # last characters of a key that are matched: a glob with three stars takes quadratic time


@dataclass(frozen=True)
class Kind:
    """One kind of difference: its `rank` (0 matters most), and the labels that it can cause, with the direction."""

    name: str
    title: str
    rank: int
    section: Section
    last: re.Pattern[str]
    whole: re.Pattern[str]
    causes: Mapping[str, str]
    role: str | None = None

    def fits(self, key: str) -> bool:
        """Whether the setting with this dotted key is of this kind."""
        return bool(self.whole.fullmatch(key) or self.last.fullmatch(key.rpartition(".")[2]))

    def behind(self, label: str, way: Way | None) -> bool:
        """Whether a change in this direction (None: no number) can lead to a cause of this label."""
        wanted = self.causes.get(label)
        return wanted == "any" or (wanted is not None and wanted == way)

    def mends(self, label: str, way: Way | None) -> bool:
        """Whether a change in this direction reverses one that can lead to a cause of this label."""
        wanted = self.causes.get(label)
        return wanted == "any" or (wanted is not None and way is not None and wanted != way)


class FailedFixes(Shape, frozen=True):
    """The number of failed fixes that lowers a cause, and the log-odds: for different fixes, and for the same fix."""

    count: int
    different: float
    same: float


@dataclass(frozen=True)
class Kinds:
    """The whole file. `any_setting` are labels that any setting can lead to by another path through the code."""

    kinds: Mapping[str, Kind]
    ignored: re.Pattern[str]
    too_many: int
    any_setting: frozenset[str]
    failed: FailedFixes

    def kind_of(self, key: str) -> Kind | None:
        """The kind of a setting, by its dotted key; None for a setting without effect."""
        plain = ".".join(part for part in key.lower().replace("-", "_").split(".") if not part.isdecimal())[-MAX_KEY:]
        if self.ignored.fullmatch(plain):
            return None
        return next((kind for kind in self.kinds.values() if kind.fits(plain)), None)


class _KindEntry(Shape, frozen=True):
    title: Text
    keys: tuple[str, ...]
    causes: dict[str, Literal["up", "down", "any"]]
    section: Section = "config"
    role: str | None = None


class _File(Shape, frozen=True):
    too_many: int
    any_setting: frozenset[str]
    failed_fixes: FailedFixes
    ignored: tuple[str, ...]
    kinds: dict[str, _KindEntry]


@cache
def kinds(folder: Path | None = None) -> Kinds:
    """`rules/changes.yaml` (or that file in `folder`). Raises RuleError where it is not valid."""
    file = ours("changes.yaml", _File, folder)
    return Kinds(
        kinds={name: _kind(name, entry, rank) for rank, (name, entry) in enumerate(file.kinds.items())},
        ignored=_pattern(file.ignored),
        too_many=file.too_many,
        any_setting=file.any_setting,
        failed=file.failed_fixes,
    )


def _kind(name: str, entry: _KindEntry, rank: int) -> Kind:
    last, whole = ([glob for glob in entry.keys if ("." in glob) is dotted] for dotted in (False, True))
    return Kind(name, entry.title, rank, entry.section, _pattern(last), _pattern(whole), entry.causes, entry.role)


def _pattern(globs: Sequence[str]) -> re.Pattern[str]:
    """One pattern for all globs; without a glob it matches nothing. (`fnmatch` would use atomic groups.)"""
    # `*_lr` gives `.*_lr`
    parts = ("".join(".*" if c == "*" else re.escape(c) for c in glob) for glob in globs)
    return re.compile("|".join(parts) or r"(?!)", re.DOTALL)
