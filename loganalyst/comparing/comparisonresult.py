"""The result of a comparison. Where a part could not be judged, its `why_not` gives the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from loganalyst.model.shortrepr import Short

Scale = Literal["linear", "log", "choice"]
Edge = Literal["low", "high"]
UNRELATED = "unrelated"  # why a run of another project is left out


@dataclass(frozen=True)
class Objective:
    """The value that runs are compared by: a metric, the direction in which it is `worse`, and which of its values
    counts (`best`: the best smoothed value; `last`: the level at the end). `known` runs have it; `left_out` counts the
    others by reason.
    """

    metric: str
    role: str
    worse: Literal["up", "down"]
    how: Literal["best", "last"]
    why: str
    known: int
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Importance(Short):
    """The share of the variance between runs that one setting explains: alone (`main`), and with its interactions
    (`share`, with its 90 % posterior interval `low`..`high`). `q` is its false discovery rate; `important`: at most
    5 %. `profile` has the predicted objective and a 90 % band at each level, with the other settings at their best.
    """

    key: str
    scale: Scale
    also: tuple[str, ...]
    share: float
    low: float
    high: float
    main: float
    p: float
    q: float
    important: bool
    profile: tuple[Mapping[str, float | str], ...] = ()


@dataclass(frozen=True, repr=False)
class Interaction(Short):
    """Two settings whose effects depend on each other; `best` has the best level of the first at two levels of the
    second.
    """

    keys: tuple[str, str]
    share: float
    q: float
    important: bool
    best: tuple[Mapping[str, float | str], ...] = ()


@dataclass(frozen=True, repr=False)
class Region(Short):
    """The best levels of one setting: `levels` are not significantly worse than `best` (one-sided, 95 %). `edge`: the
    best level is at this end of the tried range. `free`: no level is significantly worse.
    """

    key: str
    scale: Scale
    best: float | str
    levels: tuple[float | str, ...]
    edge: Edge | None
    free: bool


@dataclass(frozen=True, repr=False)
class Corner(Short):
    """The region where runs diverge or fail: conditions on one or two settings, and the failures inside and outside.
    `p` is corrected for all regions that were tested.
    """

    conditions: tuple[str, ...]
    runs: int
    failed: int
    other_runs: int
    other_failed: int
    p: float


@dataclass(frozen=True)
class Sensitivity:
    """The effects of the settings of a sweep, the largest importance first. `noise` is the share of the variance that
    no setting explains. `together` has pairs of settings that were changed together, with the share of the first that
    the second explains. `predicted` is the expected objective, with its interval, at the best levels.
    """

    runs: int
    importances: tuple[Importance, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    regions: tuple[Region, ...] = ()
    noise: float | None = None
    together: tuple[tuple[str, str, float], ...] = ()
    predicted: tuple[float, float, float] | None = None
    why_not: str = ""


@dataclass(frozen=True)
class SeedGroup:
    """Runs equal in all settings but the seed: mean and standard deviation of their objective."""

    id: str
    settings: Mapping[str, str]
    runs: tuple[str, ...]
    mean: float
    sd: float


@dataclass(frozen=True)
class Versus:
    """Whether one group is better than another: the difference of their means (positive: `better` is better) with its
    95 % interval, corrected for all comparisons. `seeds`: seeds per group that would decide it (80 % power).
    """

    better: str
    other: str
    difference: float
    low: float
    high: float
    p: float
    decided: bool
    seeds: int | None


@dataclass(frozen=True)
class Seeds:
    """The effect of the seed alone: the standard deviation `sd`, pooled over groups, with its degrees of freedom."""

    sd: float | None = None
    df: int = 0
    groups: tuple[SeedGroup, ...] = ()
    versus: tuple[Versus, ...] = ()
    why_not: str = ""


Verdict = Literal["fitted", "undetermined", "too_few", "too_narrow", "not_known"]


@dataclass(frozen=True)
class ScalingFit:
    """A law of the loss over `x` (parameters, tokens, compute, or parameters and tokens). `parameters` has by name the
    estimate and both ends of its 90 % bootstrap interval. `span` is the largest x divided by the smallest. A point has
    x (or both x) and the loss; a point of `curve` (for one x only) has x, the loss, and both ends of its interval.
    """

    x: str
    law: str
    verdict: Verdict
    runs: int
    span: float
    text: str
    parameters: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    residual: float | None = None
    points: tuple[tuple[float, ...], ...] = ()
    curve: tuple[tuple[float, float, float, float], ...] = ()


@dataclass(frozen=True)
class Optimum:
    """Whether the largest run uses its compute well: its parameters and data (`unit`: tokens or samples), the optimal
    values for the same compute, and the `gain` in loss, each with its interval.
    """

    run: str
    unit: str
    parameters: float
    data: float
    best_parameters: tuple[float, float, float]
    best_data: tuple[float, float, float]
    gain: tuple[float, float, float]
    text: str


@dataclass(frozen=True)
class Scaling:
    """Fitted scaling laws, and the check of the largest run against the compute-optimal one."""

    fits: tuple[ScalingFit, ...] = ()
    optimum: Optimum | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Duplicate:
    """Runs with equal settings or equal curves: `copies` (same settings, same curve), `nondeterministic` (same settings
    and seed, different curves), `seedless` (same settings, no seed logged, different curves), `without_effect` (`keys`
    differ, but the curves are the same to the last digit).
    """

    kind: Literal["copies", "nondeterministic", "seedless", "without_effect"]
    runs: tuple[str, ...]
    keys: tuple[str, ...] = ()
    spread: float | None = None


@dataclass(frozen=True)
class Regression:
    """One metric in two sets of runs: `difference` is the new mean minus the old mean, with its 95 % interval, within
    equal settings where both sets have some. `verdict`: `worse` or `better` at a family-wise error of 5 %, else `same`;
    `unknown` if the noise cannot be estimated.
    """

    metric: str
    role: str
    old: float
    new: float
    old_runs: int
    new_runs: int
    matched: int
    difference: float
    low: float | None
    high: float | None
    p: float | None
    verdict: Literal["worse", "better", "same", "unknown"]


@dataclass(frozen=True, repr=False)
class Suggestion(Short):
    """A suggested next run: the settings to `change` in the run `base` (a path), and the meaning of each outcome."""

    kind: Literal["separate", "seeds", "extend", "explore", "scale"]
    title: str
    why: str
    base: str
    change: Mapping[str, str]
    outcomes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False)
class Unrelated(Short):
    """Runs of another project (ids, and their deepest common `folder`). `settings` and `metrics` count the names that
    identify a training: those in common, and those of the smaller set. `scale` has the roles whose values all differ by
    a large factor. `comparison` compares these runs only; None if there are too few, or they lack the wanted metric.
    """

    folder: str
    runs: tuple[str, ...]
    settings: tuple[int, int]
    metrics: tuple[int, int]
    scale: tuple[str, ...]
    comparison: "Comparison | None"


@dataclass(frozen=True, repr=False)
class Comparison(Short):
    """The comparison of many runs.

    `runs` has one row per run, the best first: id, path, status, whether it was unstable, its objective, its group of
    equal settings, its seed, then one column per varying setting (`config.KEY`). `groups` and `contrasts` are those of
    an audit. `regressions` compares two sets, old and new; `changed` has the settings that differ between the sets in
    all runs: key -> value before and after. If the runs belong to several projects, everything except `runs` describes
    the largest one, and the others are `unrelated`. `settings_obeyed` are the user's settings files that took effect
    (`FILE: what`), `settings_ignored` those that came with a run, each with the number of its runs.
    `faults` says which paths and runs could not be read, and why.

    >>> import loganalyst as la
    >>> found = la.compare(["fixtures/runs/nan-lr", "fixtures/runs/healthy-gpt-noisy"], jobs=1)
    >>> found.runs.height, found.worse
    (2, False)
    """

    runs: pl.DataFrame
    groups: pl.DataFrame
    contrasts: pl.DataFrame
    objective: Objective | None
    sensitivity: Sensitivity
    corner: Corner | None
    seeds: Seeds
    scaling: Scaling
    duplicates: tuple[Duplicate, ...]
    regressions: tuple[Regression, ...]
    suggestions: tuple[Suggestion, ...]
    sets: tuple[str, ...] = ()
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    unrelated: tuple[Unrelated, ...] = ()
    settings_obeyed: Mapping[str, int] = field(default_factory=dict)
    settings_ignored: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether a metric of the new set is significantly worse, in any group.

        >>> import loganalyst as la
        >>> la.compare(["fixtures/runs/nan-lr"], jobs=1).worse  # a regression needs two sets of runs
        False
        """
        alone = [u.comparison for u in self.unrelated if u.comparison]
        return any(r.verdict == "worse" for r in self.regressions) or any(c.worse for c in alone)
