"""What a comparison of runs finds, part by part. Where a part could not be judged its `why_not` says so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from loganalyst.model.shortrepr import Short

Scale = Literal["linear", "log", "choice"]
Edge = Literal["low", "high"]
UNRELATED = "unrelated"  # why a run is left out that has nothing to do with those that are compared


@dataclass(frozen=True)
class Objective:
    """What runs are compared by: a metric, its direction of harm, and which value of a run counts (`best`: of a
    held-out metric the best smoothed one, `last`: the level at the end). `known` runs have it; `left_out` counts the
    others by why.
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
    """How much of the differences between runs one setting makes, alone (`main`) and with its interactions (`share`,
    with `low`..`high` its 90 % posterior interval). `q` is the false discovery rate at which it is told; `important`:
    that is at most 5 %. `profile` has its levels with the predicted objective, and a 90 % band, others at their best.
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
    """Two settings of which the effect of one depends on the other; `best` tells the best level of the first at two
    levels of the second.
    """

    keys: tuple[str, str]
    share: float
    q: float
    important: bool
    best: tuple[Mapping[str, float | str], ...] = ()


@dataclass(frozen=True, repr=False)
class Region(Short):
    """Where one setting is best: `levels` are those not shown to be worse than `best` (one-sided, 95 %). `edge`: the
    best lies at this end of what was tried. `free`: no level is shown to be worse.
    """

    key: str
    scale: Scale
    best: float | str
    levels: tuple[float | str, ...]
    edge: Edge | None
    free: bool


@dataclass(frozen=True, repr=False)
class Corner(Short):
    """Where runs diverge or fail: conditions of one or two settings, and the failures with and without them. `p` is
    the chance of so strong a contrast by accident, over all corners that were looked at.
    """

    conditions: tuple[str, ...]
    runs: int
    failed: int
    other_runs: int
    other_failed: int
    p: float


@dataclass(frozen=True)
class Sensitivity:
    """Which settings of a sweep matter: importances the largest first. `noise` is the share of the differences that no
    setting explains, `together` are pairs of settings that were changed together (with the share of the first that the
    second tells), so that they cannot be told apart. `predicted` is the objective expected at the best region.
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
    95 % interval, over all comparisons made; `seeds` is how many seeds each would need to decide (80 % power).
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
    """What only another seed changes: `sd` pooled over groups, with its degrees of freedom."""

    sd: float | None = None
    df: int = 0
    groups: tuple[SeedGroup, ...] = ()
    versus: tuple[Versus, ...] = ()
    why_not: str = ""


Verdict = Literal["fitted", "undetermined", "too_few", "too_narrow", "not_known"]


@dataclass(frozen=True)
class ScalingFit:
    """A law of the loss over `x` (parameters, tokens, compute, or parameters and tokens). `parameters` are estimate,
    and both ends of the 90 % bootstrap interval, by name; `span` is the factor between the largest and the smallest x.
    `points` are x (both, where the law has two) and loss, `curve` x, loss and its interval (of one x only).
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
    """Whether the largest run spends its compute well: parameters and data (`unit`: tokens or samples) it has, those
    the fit finds optimal for as much compute (with interval), and the loss that would gain.
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
    """Fits of scaling laws, and the check of the largest run against the compute-optimal one."""

    fits: tuple[ScalingFit, ...] = ()
    optimum: Optimum | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Duplicate:
    """Runs that are the same in one way: `copies` (same settings, same curve), `nondeterministic` (same settings and
    seed, another curve), `seedless` (same settings, no seed logged, another curve), `without_effect` (the same curve to
    the last digit although `keys` differ).
    """

    kind: Literal["copies", "nondeterministic", "seedless", "without_effect"]
    runs: tuple[str, ...]
    keys: tuple[str, ...] = ()
    spread: float | None = None


@dataclass(frozen=True)
class Regression:
    """One metric in two sets of runs: the new one's less the old one's mean, of runs with equal settings where there
    are such, with its 95 % interval. `verdict` is beyond noise at a family-wise error of 5 %, or `same`; `unknown`
    where there is nothing to tell noise by.
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
    """A run to make next: the settings to change of the run `base` (a path), and what each outcome would mean."""

    kind: Literal["separate", "seeds", "extend", "explore", "scale"]
    title: str
    why: str
    base: str
    change: Mapping[str, str]
    outcomes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False)
class Unrelated(Short):
    """Runs (ids, and the deepest `folder` that holds them) that have nothing to do with those that are compared. Of the
    settings and metrics that say what is trained: how many both have, and how many the set with fewer has; `scale`
    names the objectives of which all values differ by far. `comparison` is theirs alone; None where they are too few,
    or do not log the metric that was asked for.
    """

    folder: str
    runs: tuple[str, ...]
    settings: tuple[int, int]
    metrics: tuple[int, int]
    scale: tuple[str, ...]
    comparison: "Comparison | None"


@dataclass(frozen=True, repr=False)
class Comparison(Short):
    """What is to be learned from many runs together.

    `runs` has one row a run, the best first: id, path, status, whether it was unstable, its objective, its group of
    equal settings, its seed, then one column a setting that varies (`config.KEY`). `groups` and `contrasts` are those
    of an audit. `regressions` are told of two sets of runs, the old one and the new one, and what was `changed` in
    all of the new ones: key -> value before and after. Where runs have nothing to do with each other, all but `runs` is
    of the largest group that belongs together, and the others are `unrelated`.

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

    @property
    def worse(self) -> bool:
        """Whether a metric of the new set is worse beyond noise, in any group.

        >>> import loganalyst as la
        >>> la.compare(["fixtures/runs/nan-lr"], jobs=1).worse  # only two sets of runs can be held against each other
        False
        """
        alone = [u.comparison for u in self.unrelated if u.comparison]
        return any(r.verdict == "worse" for r in self.regressions) or any(c.worse for c in alone)
