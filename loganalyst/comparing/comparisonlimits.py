"""Read and check `rules/comparing.yaml`: the limits from which runs count as unrelated, and other judgements."""

from functools import cache
from pathlib import Path

from loganalyst.baseline import kinds
from loganalyst.curves.roles import all_roles
from loganalyst.rulefiles import Positive, Shape, Share, check_names, load, rules_dir, typed


class Settings(Shape, frozen=True):
    """The kinds of settings that identify a training, and the limits for the share of common names."""

    kinds: frozenset[str]
    vague: frozenset[str]
    min_names: int
    related_share: Share
    unrelated_share: Share


class Metrics(Shape, frozen=True):
    """The same for metrics: roles that any training has, and roles for which the metric's name counts instead."""

    common: frozenset[str]
    named: frozenset[str]
    min_names: int
    related_share: Share
    unrelated_share: Share


class Scale(Shape, frozen=True):
    """The factor by which all values must differ, and the least number of runs per group."""

    factor: Positive
    runs: int


class Compared(Shape, frozen=True):
    """How many groups are compared besides the largest one, and the least number of runs of such a group."""

    groups: int
    runs: int


class Counted(Shape, frozen=True):
    """The objective: how many runs must have it, and which runs are long enough to count."""

    known_share: Share
    complete_share: Share
    short_share: Share


class NextRun(Shape, frozen=True):
    """From where on a next run is worth suggesting, and how far it may go."""

    failing_share: Share
    max_seed_runs: int
    max_extension: Positive
    min_gain: Positive
    rival_confidence: Share
    change_factor: Positive


class Limits(Shape, frozen=True):
    """All limits of `rules/comparing.yaml`."""

    settings: Settings
    metrics: Metrics
    scale: Scale
    compared: Compared
    objective: Counted
    next_run: NextRun


@cache
def limits(folder: Path | None = None) -> Limits:
    """`rules/comparing.yaml` (or that file in `folder`). Raises RuleError if it is not valid."""
    file = load((folder or rules_dir()) / "comparing.yaml")
    found = typed(file, Limits)
    for part, key, known in (
        ("settings", "kinds", kinds().kinds),
        ("metrics", "common", all_roles()),
        ("metrics", "named", all_roles()),
    ):
        check_names(file, (part, key), file.data[part][key], known)
    return found
