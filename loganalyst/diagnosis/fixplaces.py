"""Where a fix has to be made: the setting it names, found among what config and code say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from loganalyst.model import Cause, Fix, Place
from loganalyst.rulefiles import Shape, Texts, ours

__all__ = ["cited"]

MOST = 3  # places a fix cites


def cited(causes: Sequence[Cause], places: Sequence[Place]) -> tuple[Cause, ...]:
    """The causes with the places of the settings that their fixes change; as they are where nothing was searched."""
    return tuple(replace(c, fix=tuple(_fix(fix, places) for fix in c.fix)) for c in causes) if places else tuple(causes)


def _fix(fix: Fix, places: Sequence[Place]) -> Fix:
    """Places with the value that the fix starts from come first, then in the order they were named."""
    keys = _keys(fix.change)
    fit = [p for p in places if p.key.lower().replace("-", "_") in keys]
    numbers = {float(n) for n in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", fix.change)}
    return replace(fix, places=tuple(sorted(fit, key=lambda p: _number(p.value) not in numbers)[:MOST]))


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _keys(change: str) -> frozenset[str]:
    """The names of the setting that a change speaks of, by its longest words that stand in it; none where none do."""
    named = [
        (words, keys) for words, keys in _settings().items() if re.search(rf"\b{re.escape(words)}\b", change.lower())
    ]
    return max(named, key=lambda pair: len(pair[0]))[1] if named else frozenset()


class _Setting(Shape, frozen=True):
    words: Texts
    keys: Texts


@cache
def _settings() -> Mapping[str, frozenset[str]]:
    """The names of each setting by the words that fixes use for it, from `rules/settings.yaml`."""
    entries = ours("settings.yaml", dict[str, _Setting]).values()
    return {words: frozenset(entry.keys) for entry in entries for words in entry.words}
