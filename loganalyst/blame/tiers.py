"""Tiers of blame, from `rules/tiers.yaml`: the strongest tier that has a line states the root cause."""

from functools import cache

from loganalyst import rulefiles
from loganalyst.errors import RuleError


def tier(name: str) -> int:
    """The place of a tier in the order, 0 for the strongest.

    Raises RuleError where the file is not as it must be, KeyError for a name it lacks.

    >>> tier("own_fault")
    0
    """
    return _tiers()[name]


@cache
def _tiers() -> dict[str, int]:
    file = rulefiles.load(rulefiles.rules_dir() / "tiers.yaml")
    if not isinstance(file.data, list):
        raise RuleError(file.where(), f"found {type(file.data).__name__}", "a list of tiers is needed")
    for i in range(len(file.data)):
        file.check_keys((i,), ("tier", "meaning"))
    return {entry["tier"]: place for place, entry in enumerate(file.data)}
