"""Fits the log-likelihood ratios of evidence on labelled runs.

The fit maximises the likelihood of the labels, where each cause is right with its confidence among its rivals. A weight
keeps its judged sign, and a normal prior draws it to its judged size. A weight of 0 may become the opposite of the
other answer's weight. A weight seen in few runs therefore stays near the judged one. An item that answered in fewer
than MIN_RUNS, in which its rule was considered, is not fitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers, answer
from loganalyst.diagnosis.logodds import capped, logit
from loganalyst.diagnosis.rivals import rivals, sharing
from loganalyst.diagnosis.rule import MAX_WEIGHT, Rule
from loganalyst.evaluate.labelled import Labelled

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPREAD = 0.5  # standard deviation of the true weight around the judged one
MIN_RUNS = 10  # with an answer of an item, for its weights to be fitted
MIN_WEIGHT = 0.05  # size of a fitted weight

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Ratios = Mapping[str, Mapping[str, tuple[float, float]]]


def ratios(problem: "Problem", counts: Array) -> Ratios:
    """Rule -> item -> (if_true, if_false), for items that answered in enough runs. Each run counts `counts` times."""
    return problem.named(_fitted(problem, counts[problem.run]))


def _places(catalogue: Catalogue) -> dict[str, int]:
    """The position of each rule's first weight among all weights. Each item has two: if_true and if_false."""
    sizes = [2 * len(rule.evidence) for rule in catalogue.rules.values()]
    return dict(zip(catalogue.rules, np.cumsum([0, *sizes]).tolist(), strict=False))


@dataclass(frozen=True)
class Problem:
    """All causes that took a share in a run, one entry each, with their weights.

    The log-odds of an entry are `base` plus the strongest weight of each of its groups, at most `cap`. `weight` holds
    the weights that answered, sorted by group. `starts` are the beginnings of the groups, `entry` the entry of each
    group. `rivals` (entries by entries, 0 or 1) marks which entries compete. `right` marks right answers. Of several
    causes of a run with a right label the likeliest is right; the others are not `known`: another rule explains it.
    `run` is the run of each entry. `judged` are all weights of the rules; `keys` is the rule and item of each pair of
    them. `fixed` marks rules that explain a symptom as harmless: fitting them could raise false alarms.
    """

    judged: Array
    keys: Sequence[tuple[str, str]]
    fixed: NDArray[np.bool_]
    base: Array
    cap: Array
    right: NDArray[np.bool_]
    known: NDArray[np.bool_]
    run: Ints
    weight: Ints
    starts: Ints
    entry: Ints
    rivals: "csr_array[np.float64]"

    def loss(self, weights: Array, counted: Array) -> tuple[float, Array]:
        """Minus the log-likelihood of `right`, where each entry counts `counted` times, and its gradient."""
        counted = counted * self.known
        chosen = self._strongest(weights)
        odds = self.base + np.bincount(self.entry, weights[chosen], self.base.size)
        free, taken = odds < self.cap, np.exp(np.minimum(odds, self.cap))
        whole = 1 + self.rivals @ taken
        p = np.clip(taken / whole, 1e-9, 1 - 1e-9)
        away = counted * (p - self.right) / (1 - p)  # d loss / d log p
        slope = free * (away - taken * (self.rivals.T @ (away / whole)))
        value = -float((counted * np.log(np.where(self.right, p, 1 - p))).sum())
        return value, np.bincount(chosen, slope[self.entry], weights.size).astype(float)

    def seen(self, counted: Array) -> Array:
        """The number of entries in which each weight answered, where each entry counts `counted` times."""
        sizes = np.diff([*self.starts, self.weight.size])
        return np.bincount(self.weight, counted[np.repeat(self.entry, sizes)], self.judged.size).astype(float)

    def asked(self, counted: Array) -> NDArray[np.bool_]:
        """Whether each item answered in enough entries."""
        return np.asarray(self.seen(counted).reshape(-1, 2).sum(axis=1) >= MIN_RUNS)

    def named(self, weights: Array) -> Ratios:
        """The weights that differ from the judged weights, by rule and item."""
        moved = (weights != self.judged).reshape(-1, 2).any(axis=1)
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for k in np.flatnonzero(moved).tolist():
            rule, item = self.keys[k]
            true, false = weights[2 * k : 2 * k + 2].round(2).tolist()
            found.setdefault(rule, {})[item] = (true, false)
        return found

    def _strongest(self, weights: Array) -> Ints:
        """The position of the weight that counts in each group: the first of the largest in size."""
        size = np.abs(weights[self.weight])
        best = np.maximum.reduceat(size, self.starts)
        group = np.repeat(np.arange(self.starts.size), np.diff([*self.starts, size.size]))
        hits = np.flatnonzero(size == best[group])
        return self.weight[hits[np.unique(group[hits], return_index=True)[1]]]


def problem(catalogue: Catalogue, runs: Labelled) -> Problem:
    """The problem of fitting a catalogue on runs. Explained causes stay those of the judged weights."""
    from scipy.sparse import block_diag, csr_array

    answers = answer(catalogue, runs.features, runs.witnesses)
    shared = [[j for j in confidence.judge(catalogue, a).values() if sharing(j)] for a in answers]
    benign = {id_ for id_, rule in catalogue.rules.items() if rule.benign}
    entries = [(j, run) for run, causes in enumerate(shared) for j in causes]
    competing = [np.array([[rivals(a, b) for b in causes] for a in causes], float) for causes in shared if causes]
    places = _places(catalogue)
    groups = [
        (e, some) for e, (j, run) in enumerate(entries) for some in _groups(j.rule, answers[run], places[j.rule.id])
    ]
    every = [(rule.id, item) for rule in catalogue.rules.values() for item in rule.evidence]
    labels = runs.truths["labels"].to_list()
    right = np.array([not {j.rule.label, j.rule.id}.isdisjoint(labels[run]) for j, run in entries], bool)
    return Problem(
        judged=np.array([weight for _, item in every for weight in (item.if_true, item.if_false)]),
        keys=[(rule, item.id) for rule, item in every],
        fixed=np.repeat([rule in benign for rule, _ in every], 2),
        base=np.array([logit(j.rule.prior) for j, _ in entries]),
        cap=np.array([logit(capped(1.0, j.direct)) for j, _ in entries]),
        right=right,
        known=~right | _likeliest(right, [(run, -j.alone) for j, run in entries]),
        run=np.array([run for _, run in entries]),
        weight=np.array([w for _, some in groups for w in some]),
        starts=np.cumsum([0, *(len(some) for _, some in groups)])[:-1],
        entry=np.array([e for e, _ in groups]),
        rivals=csr_array(block_diag(competing)),
    )


def _likeliest(right: NDArray[np.bool_], keys: Sequence[tuple[int, float]]) -> NDArray[np.bool_]:
    """The first right entry of each run, by its key (run, minus its probability)."""
    found, seen = np.zeros_like(right), set[int]()
    for entry in sorted(np.flatnonzero(right).tolist(), key=keys.__getitem__):
        found[entry] = keys[entry][0] not in seen
        seen.add(keys[entry][0])
    return found


def _groups(rule: Rule, answers: Answers, start: int) -> Iterator[list[int]]:
    """The weights that answered, as one list per group."""
    groups: dict[str, list[int]] = {}
    for k, (item, holds) in enumerate(zip(rule.evidence, answers.items[rule.id], strict=True)):
        if holds is not None:
            groups.setdefault(item.group, []).append(start + 2 * k + (not holds))
    yield from groups.values()


def _fitted(problem: Problem, counted: Array) -> Array:
    """The weights with the smallest loss. Those of items that answered in too few runs stay."""
    from scipy.optimize import minimize

    judged = problem.judged
    free = problem.asked(counted).repeat(2) & ~problem.fixed
    sign = np.where(judged != 0, np.sign(judged), -np.sign(judged.reshape(-1, 2)[:, ::-1].ravel()))
    least = np.where(judged != 0, MIN_WEIGHT, 0.0)

    def penalised(weights: Array) -> tuple[float, Array]:
        value, slope = problem.loss(weights, counted)
        away = (weights - judged) / SPREAD**2
        return value + float((weights - judged) @ away) / 2, slope + away

    low = np.where(free & (sign != 0), np.where(sign > 0, least, -MAX_WEIGHT), judged)
    high = np.where(free & (sign != 0), np.where(sign > 0, MAX_WEIGHT, -least), judged)
    start = np.clip(judged, low, high)
    found = minimize(penalised, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)))
    return np.asarray(found.x, float)
