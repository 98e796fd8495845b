"""The role that a name fits alone, by the phrases of `rules/roles.yaml`."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from loganalyst.curves.metricnames import CAPITAL, normalise, phrase_regex
from loganalyst.curves.rolefile import Entry, all_roles, role_file
from loganalyst.curves.rolenames import FirstLook
from loganalyst.model import Role
from loganalyst.namewords import word_file


class _Pattern(msgspec.Struct, frozen=True):
    role: Role
    phrases: tuple[str, ...]
    any: str
    none: str
    only: frozenset[str] | None
    without: frozenset[str]
    held_out: frozenset[str] | None

    def reason(self, name: str) -> str | None:
        """Why the normalised `name` fits this role, or None."""
        if self.held_out is not None and self.held_out.isdisjoint(name.split("_")):
            return None
        if not self.without.isdisjoint(name.split("_")):
            return None
        if self.only is not None and not all(map(str.isdigit, {*name.split("_")} - self.only)):
            return None
        if not phrase_regex(self.any).search(name) or (self.none and phrase_regex(self.none).search(name)):
            return None
        hit = next(phrase for phrase in self.phrases if phrase_regex(phrase).search(name))
        return f"name has {hit!r}"


MAX_NAME = 500  # only the last characters of a name count, because patterns with `.*` take quadratic time
_VAGUE_ROLES = {"other", "loss_component", "val_loss_component"}
_WINDOW = re.compile(r"(?<=[a-z]{5})(?=[0-9]{2,4}$)")  # before the 100 in "meanReward100"


@cache
def _catalogue() -> tuple[_Pattern, ...]:
    file = role_file()
    return tuple(_pattern(all_roles()[name], entry, file.words) for name, entry in file.roles.items())


def _pattern(role: Role, entry: Entry, words: Mapping[str, frozenset[str]]) -> _Pattern:
    phrases = entry.any + (word_file().measures.of(entry.measures) if entry.measures else ())
    return _Pattern(
        role,
        phrases,
        "|".join(phrases),
        "|".join(entry.none),
        frozenset().union(*(words[w] for w in entry.only)) if entry.only else None,
        frozenset().union(*(words[w] for w in entry.without)),
        words[entry.held_out] if entry.held_out else None,
    )


def by_name(metrics: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """Roles by the plain names; where a name shows only that it is a loss, by the words that its capitals begin."""
    plain = {metric: normalise(metric) for metric in metrics}
    plain_roles = _fits(plain.values())
    vague = [metric for metric, name in plain.items() if plain_roles[name][0].name in _VAGUE_ROLES]
    apart = {metric: _WINDOW.sub("_", CAPITAL.sub("_", metric)) for metric in vague}
    words = {metric: normalise(split) for metric, split in apart.items() if split != metric}
    split = {name: role for name, role in _fits(words.values()).items() if role[0].name != "other"}
    return {metric: split.get(words.get(metric, ""), plain_roles[name]) for metric, name in plain.items()}


def _fits(names: Iterable[str]) -> dict[str, tuple[Role, str]]:
    """The first role that fits each normalised name, by its last MAX_NAME characters."""
    ends, patterns = {name: name[-MAX_NAME:] for name in names}, _catalogue()
    found = {end: _first_role(end, [patterns[k] for k in ks]) for end, ks in _first_look().candidates({*ends.values()})}
    return {name: found[end] for name, end in ends.items()}


@cache
def _first_look() -> FirstLook:
    return FirstLook([(pattern.phrases, pattern.held_out or ()) for pattern in _catalogue()])


def _first_role(name: str, patterns: Iterable[_Pattern]) -> tuple[Role, str]:
    for pattern in patterns:
        if reason := pattern.reason(name):
            return pattern.role, reason
    return all_roles()["other"], "no role fits the name"
