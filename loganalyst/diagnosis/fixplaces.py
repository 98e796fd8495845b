"""Where to make a fix: the setting that it names, located in the config and code."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import msgspec

from loganalyst.model import Cause, FeatureValue, Fix, Place
from loganalyst.rulefiles import Shape, Texts, ours

__all__ = ["cited", "named"]

MAX_PLACES = 3  # per fix


def cited(causes: Sequence[Cause], places: Sequence[Place]) -> tuple[Cause, ...]:
    """The causes with the places of the settings that their fixes change; unchanged if there are no places."""
    return (
        tuple(replace(c, fix=tuple(_located(fix, places) for fix in c.fix)) for c in causes)
        if places
        else tuple(causes)
    )


def named(causes: Sequence[Cause], trainer: FeatureValue) -> tuple[Cause, ...]:
    """The causes with the trainer's own name of the setting at the end of each change that names a setting."""
    options = {keys: own[trainer] for keys, own in _options() if trainer in own} if isinstance(trainer, str) else {}
    if not options:
        return tuple(causes)
    return tuple(replace(c, fix=tuple(_with_option(fix, options) for fix in c.fix)) for c in causes)


def _with_option(fix: Fix, options: Mapping[frozenset[str], str]) -> Fix:
    option = options.get(_keys(fix.change))
    return fix if option is None or option in fix.change else replace(fix, change=f"{fix.change} ({option})")


def _located(fix: Fix, places: Sequence[Place]) -> Fix:
    """The fix with its places. Places with a value that the fix names come first."""
    keys = _keys(fix.change)
    fit = [p for p in places if p.key.lower().replace("-", "_") in keys]
    # numbers on their own: `lr: 0.1 → 1e-3` has 0.1 and 1e-3, `bf16` has none
    numbers = {float(n) for n in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", fix.change)}
    return replace(fix, places=tuple(sorted(fit, key=lambda p: _number(p.value) not in numbers)[:MAX_PLACES]))


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _keys(change: str) -> frozenset[str]:
    """The names of the setting that a change mentions. The longest matching words win; empty if none match."""
    known = [
        (words, keys) for words, keys in _settings().items() if re.search(rf"\b{re.escape(words)}\b", change.lower())
    ]
    return max(known, key=lambda pair: len(pair[0]))[1] if known else frozenset()


class _Setting(Shape, frozen=True):
    words: Texts
    keys: Texts
    options: dict[str, str] = msgspec.field(default_factory=dict)


@cache
def _options() -> tuple[tuple[frozenset[str], Mapping[str, str]], ...]:
    """The names of each setting, with its full name by trainer."""
    entries = ours("settings.yaml", dict[str, _Setting]).values()
    return tuple((frozenset(entry.keys), entry.options) for entry in entries if entry.options)


@cache
def _settings() -> Mapping[str, frozenset[str]]:
    """The names of each setting by the words that fixes use for it, from `rules/settings.yaml`."""
    entries = ours("settings.yaml", dict[str, _Setting]).values()
    return {words: frozenset(entry.keys) for entry in entries for words in entry.words}
