"""Tiers of blame, from `rules/tiers.yaml`: the strongest tier that has a line states the root cause."""

from functools import cache
from pathlib import Path

from loganalyst.rulefiles import Shape, Text, ours


class _Tier(Shape, frozen=True):
    tier: Text
    meaning: Text


def tier(name: str, folder: Path | None = None) -> int:
    """The place of a tier in the order, 0 for the strongest, by `rules/tiers.yaml` (or that file in `folder`).

    Raises RuleError where the file is not valid, KeyError for a name it lacks.

    >>> tier("own_fault")
    0
    """
    return _places(folder)[name]


@cache
def _places(folder: Path | None) -> dict[str, int]:
    return {entry.tier: place for place, entry in enumerate(ours("tiers.yaml", list[_Tier], folder))}
