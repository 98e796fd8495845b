"""From where on runs are taken for unrelated: `rules/comparing.yaml`, checked."""

from functools import cache
from pathlib import Path

from loganalyst.baseline import kinds
from loganalyst.curves.roles import all_roles
from loganalyst.rulefiles import Positive, Shape, Share, check_names, load, rules_dir, typed


class Settings(Shape, frozen=True):
    """Which settings say what is trained, and from which shares of their names on they are the same or others."""

    kinds: frozenset[str]
    vague: frozenset[str]
    least: int
    same: Share
    other: Share


class Metrics(Shape, frozen=True):
    """The same of metrics: roles that any training has, and those that are told by the metric's name."""

    common: frozenset[str]
    named: frozenset[str]
    least: int
    same: Share
    other: Share


class Scale(Shape, frozen=True):
    """How many times the values of the one must be those of the other, and of how many runs."""

    factor: Positive
    runs: int


class Compared(Shape, frozen=True):
    """How many groups are compared beside the largest one, and the runs that such a group needs."""

    groups: int
    runs: int


class Limits(Shape, frozen=True):
    """The whole file."""

    settings: Settings
    metrics: Metrics
    scale: Scale
    compared: Compared


@cache
def limits(folder: Path | None = None) -> Limits:
    """`rules/comparing.yaml` (or that file in `folder`). RuleError where it is not valid."""
    file = load((folder or rules_dir()) / "comparing.yaml")
    found = typed(file, Limits)
    for part, key, known in (
        ("settings", "kinds", kinds().kinds),
        ("metrics", "common", all_roles()),
        ("metrics", "named", all_roles()),
    ):
        check_names(file, (part, key), file.data[part][key], known)
    return found
