"""From where on runs are taken for unrelated: `rules/comparing.yaml`, checked."""

from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from loganalyst import rulefiles
from loganalyst.baseline import kinds
from loganalyst.curves.roles import all_roles
from loganalyst.errors import RuleError, nearest


class Settings(NamedTuple):
    """Which settings say what is trained, and from which shares of their names on they are the same or others."""

    kinds: frozenset[str]
    vague: frozenset[str]
    least: int
    same: float
    other: float


class Metrics(NamedTuple):
    """The same of metrics: roles that any training has, and those that are told by the metric's name."""

    common: frozenset[str]
    named: frozenset[str]
    least: int
    same: float
    other: float


class Scale(NamedTuple):
    """How many times the values of the one must be those of the other, and of how many runs."""

    factor: float
    runs: int


class Compared(NamedTuple):
    """How many groups are compared beside the largest one, and the runs that such a group needs."""

    groups: int
    runs: int


class Limits(NamedTuple):
    """The whole file."""

    settings: Settings
    metrics: Metrics
    scale: Scale
    compared: Compared


PARTS: dict[str, type[Any]] = {"settings": Settings, "metrics": Metrics, "scale": Scale, "compared": Compared}
SHARES = ("same", "other")


@cache
def limits() -> Limits:
    """`rules/comparing.yaml`. RuleError where it is not valid."""
    file = rulefiles.load(rulefiles.rules_dir() / "comparing.yaml")
    file.check_keys((), PARTS)
    known: dict[str, Collection[str] | None] = {
        "kinds": kinds().kinds, "vague": None, "common": all_roles(), "named": all_roles(),
    }  # fmt: skip
    for part, made in PARTS.items():
        file.check_keys((part,), made._fields)
        for key in made._fields:
            if key in known:
                _check_names(file, part, key, known[key])
            else:
                _check_number(file, part, key)
    return Limits(**{part: made(**_frozen(file.data[part])) for part, made in PARTS.items()})


def _check_names(file: rulefiles.RuleFile, part: str, key: str, allowed: Collection[str] | None) -> None:
    found = file.data[part][key]
    if not isinstance(found, list):
        raise RuleError(file.where(part, key), f"{key}: found {found!r}", "a list of names is needed")
    for i, name in enumerate(found):
        if not isinstance(name, str) or (allowed is not None and name not in allowed):
            hint = nearest(str(name), allowed or ()) or f"allowed are {', '.join(allowed or ('names',))}"
            raise RuleError(file.where(part, key, i), f"{key}: unknown {name!r}", hint)


def _check_number(file: rulefiles.RuleFile, part: str, key: str) -> None:
    found = file.data[part][key]
    most = 1.0 if key in SHARES else float("inf")
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 < found <= most:
        allowed = "a share above 0, at most 1" if key in SHARES else "a number above 0"
        raise RuleError(file.where(part, key), f"{key}: found {found!r}", allowed)


def _frozen(part: dict[str, Any]) -> dict[str, Any]:
    return {key: frozenset(value) if isinstance(value, list) else value for key, value in part.items()}
