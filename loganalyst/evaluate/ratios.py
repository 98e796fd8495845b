"""Log-likelihood ratios of evidence from labelled runs.

The weights under which the labels of the runs are likeliest, where each cause is right or not with the confidence it
has beside its rivals. A weight keeps its judged sign and is drawn to its judged size (a normal prior): an item seen in
few runs stays near what was judged, one seen in hardly any is left alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.confidence import CAP, INDIRECT_CAP, logit
from loganalyst.diagnosis.evidence import Answers, answer
from loganalyst.diagnosis.rule import MAX_WEIGHT, Rule
from loganalyst.evaluate.labelled import Labelled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPREAD = 0.5  # standard deviation of the true weight around the judged one
SEEN = 10  # runs in which an item must have answered so for that weight to be fitted
LEAST = 0.05  # of a weight that speaks at all

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Ratios = Mapping[str, Mapping[str, tuple[float, float]]]


def ratios(problem: "Problem", taken: NDArray[np.bool_]) -> Ratios:
    """Rule -> item -> (if_true, if_false), of the items that answered in enough of the runs that are `taken`."""
    return problem.named(_least(problem, taken[problem.run]))


def _places(catalogue: Catalogue) -> dict[str, int]:
    """Where the weights of each rule begin in the row of all weights: two for each item, if_true and if_false."""
    sizes = [2 * len(rule.evidence) for rule in catalogue.rules.values()]
    return dict(zip(catalogue.rules, np.cumsum([0, *sizes]).tolist(), strict=False))


@dataclass(frozen=True)
class Problem:
    """All causes that took a share in a run, one `entry` each, and what they are made of.

    An entry's log-odds are `base` plus the strongest weight of each of its groups, at most `cap`. `weight` are the
    weights that answered, sorted by group; `starts` where each group begins, `entry` whose it is. `near` (entries by
    entries, 0 or 1) says who shares with whom, `right` which entries name a right answer, `run` which run they are of.
    `judged` are all weights as the rules have them, `keys` the rule and item of each two of them, `fixed` those of
    rules that explain a symptom as harmless: a healthy run must not be called sick for the sake of the others.
    """

    judged: Array
    keys: Sequence[tuple[str, str]]
    fixed: NDArray[np.bool_]
    base: Array
    cap: Array
    right: NDArray[np.bool_]
    run: Ints
    weight: Ints
    starts: Ints
    entry: Ints
    near: "csr_array[np.float64]"

    def loss(self, weights: Array, counted: NDArray[np.bool_]) -> tuple[float, Array]:
        """Minus the log-likelihood of `right` over the entries that are `counted`, and its gradient."""
        chosen = self._strongest(weights)
        odds = self.base + np.bincount(self.entry, weights[chosen], self.base.size)
        free, taken = odds < self.cap, np.exp(np.minimum(odds, self.cap))
        whole = 1 + self.near @ taken
        p = np.clip(taken / whole, 1e-9, 1 - 1e-9)
        away = counted * (p - self.right) / (1 - p)  # d loss / d log p
        slope = free * (away - taken * (self.near.T @ (away / whole)))
        value = -float((counted * np.log(np.where(self.right, p, 1 - p))).sum())
        return value, np.bincount(chosen, slope[self.entry], weights.size).astype(float)

    def seen(self, counted: NDArray[np.bool_]) -> Ints:
        """In how many of the entries that are `counted` each weight answered."""
        sizes = np.diff([*self.starts, self.weight.size])
        return np.bincount(self.weight[counted[np.repeat(self.entry, sizes)]], minlength=self.judged.size)

    def named(self, weights: Array) -> Ratios:
        """The weights that differ from the judged ones, by rule and item."""
        moved = (weights != self.judged).reshape(-1, 2).any(axis=1)
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for k in np.flatnonzero(moved).tolist():
            rule, item = self.keys[k]
            true, false = weights[2 * k : 2 * k + 2].round(2).tolist()
            found.setdefault(rule, {})[item] = (true, false)
        return found

    def _strongest(self, weights: Array) -> Ints:
        """Which weight counts in each group: the first of the largest."""
        size = np.abs(weights[self.weight])
        best = np.maximum.reduceat(size, self.starts)
        group = np.repeat(np.arange(self.starts.size), np.diff([*self.starts, size.size]))
        hits = np.flatnonzero(size == best[group])
        return self.weight[hits[np.unique(group[hits], return_index=True)[1]]]


def problem(catalogue: Catalogue, runs: Labelled) -> Problem:
    """The weights of a catalogue and what they make of the runs; which cause is under which is taken as it is there."""
    from scipy.sparse import block_diag, csr_array

    answers = answer(catalogue, runs.features, runs.witnesses)
    shared = [[j for j in confidence.judge(catalogue, a).values() if confidence.sharing(j)] for a in answers]
    benign = {id_ for id_, rule in catalogue.rules.items() if rule.benign}
    entries = [(j, run) for run, causes in enumerate(shared) for j in causes]
    near = [np.array([[confidence.rivals(a, b) for b in causes] for a in causes], float) for causes in shared if causes]
    places = _places(catalogue)
    groups = [
        (e, some) for e, (j, run) in enumerate(entries) for some in _groups(j.rule, answers[run], places[j.rule.id])
    ]
    every = [(rule.id, item) for rule in catalogue.rules.values() for item in rule.evidence]
    labels = runs.truths["labels"].to_list()
    return Problem(
        judged=np.array([weight for _, item in every for weight in (item.if_true, item.if_false)]),
        keys=[(rule, item.id) for rule, item in every],
        fixed=np.repeat([rule in benign for rule, _ in every], 2),
        base=np.array([logit(j.rule.prior) for j, _ in entries]),
        cap=np.array([logit(CAP if j.direct else INDIRECT_CAP) for j, _ in entries]),
        right=np.array([j.rule.label in labels[run] for j, run in entries]),
        run=np.array([run for _, run in entries]),
        weight=np.array([w for _, some in groups for w in some]),
        starts=np.cumsum([0, *(len(some) for _, some in groups)])[:-1],
        entry=np.array([e for e, _ in groups]),
        near=csr_array(block_diag(near)),
    )


def _groups(rule: Rule, answers: Answers, start: int) -> Iterator[list[int]]:
    """The weights that answered, in lists by group."""
    groups: dict[str, list[int]] = {}
    for k, (item, holds) in enumerate(zip(rule.evidence, answers.items[rule.id], strict=True)):
        if holds is not None:
            groups.setdefault(item.group, []).append(start + 2 * k + (not holds))
    yield from groups.values()


def _least(problem: Problem, counted: NDArray[np.bool_]) -> Array:
    """The weights of the smallest loss; those that answered in too few runs, and those that are 0, stay."""
    from scipy.optimize import minimize

    judged = problem.judged
    free = (problem.seen(counted) >= SEEN) & (judged != 0) & ~problem.fixed

    def penalised(weights: Array) -> tuple[float, Array]:
        value, slope = problem.loss(weights, counted)
        away = (weights - judged) / SPREAD**2
        return value + float((weights - judged) @ away) / 2, slope + away

    low = np.where(free, np.where(judged > 0, LEAST, -MAX_WEIGHT), judged)
    high = np.where(free, np.where(judged > 0, MAX_WEIGHT, -LEAST), judged)
    start = np.clip(judged, low, high)
    found = minimize(penalised, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)))
    return np.asarray(found.x, float)
