"""Fits weights and calibration on labelled runs, and evaluates them on families that they were not fitted on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.diagnosis.catalogue import SCALES, Catalogue
from loganalyst.diagnosis.confidence import logit
from loganalyst.diagnosis.rule import Calibration, Scale, Weights
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.labelled import Labelled
from loganalyst.evaluate.ratios import Problem, Ratios, problem, ratios

OUTER_PARTS, INNER_PARTS = 8, 4  # of the families: for the evaluation, and within each for the calibration
MIN_SLOPE = 0.05  # a higher probability never gives a lower confidence
RIDGE = 1.0  # keeps the slope near 1 and the offset near 0 if there are few answers
Taken = NDArray[np.bool_]  # of the runs


@dataclass(frozen=True)
class Fitting:
    """Fits weights on labelled runs. `catalogue` has the judged weights, which stay unless `items`.

    Answers at `first_sight` of public runs count in the calibration of causes seen in metrics, with those for `runs`.
    """

    catalogue: Catalogue
    runs: Labelled
    items: bool = True
    first_sight: pl.DataFrame | None = None

    @cached_property
    def problem(self) -> Problem:
        """The problem to fit."""
        return problem(self.catalogue, self.runs)

    def weights(self, taken: Taken) -> Weights:
        """Weights fitted on the `taken` runs. The calibration uses answers by weights that did not see their family."""
        parts = self.parts(taken, INNER_PARTS)
        unseen = pl.concat([self.answers(Weights(self.ratios(taken & ~part)), part) for part in parts])
        return Weights(self.ratios(taken), {kind: self._scale(kind, unseen.filter(kind=kind)) for kind in SCALES})

    def _scale(self, kind: Scale, answers: pl.DataFrame) -> Calibration:
        kept = [] if self.first_sight is None else [self.first_sight.filter(kind=kind)]
        return platt(pl.concat([part.select("confidence", "first") for part in (answers, *kept)]))

    def ratios(self, taken: Taken) -> Ratios:
        """The weights of items, fitted on the `taken` runs."""
        return ratios(self.problem, taken) if self.items else {}

    def crossed(self) -> pl.DataFrame:
        """The answers for all families, each by weights and calibration fitted on the others."""
        parts = self.parts(np.ones(self.runs.truths.height, bool), OUTER_PARTS)
        return pl.concat([self.answers(self.weights(~part), part) for part in parts])

    def answers(self, weights: Weights, taken: Taken) -> pl.DataFrame:
        """The answers (`answered`) for the `taken` runs."""
        return answered(self.catalogue.weighted(weights), self.runs.where(pl.Series(taken)))

    def parts(self, taken: Taken, count: int) -> list[Taken]:
        """The `taken` runs in at most `count` parts that share no family."""
        family = self.runs.truths["family"].to_numpy()
        names = np.unique(family[taken])
        return [taken & np.isin(family, names[k::count]) for k in range(min(count, names.size))]


def platt(answers: pl.DataFrame) -> Calibration:
    """Slope and offset from the log-odds of `confidence` to those of being right (Platt 1999), by Newton's method."""
    if not answers.height:
        return Calibration()
    x = np.array([logit(p) for p in answers["confidence"]])
    design = np.column_stack([x, np.ones_like(x)])
    right, start = answers["first"].to_numpy().astype(float), np.array([1.0, 0.0])
    found = start
    for _ in range(30):
        p = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (p - right) + RIDGE * (found - start)
        found = found - np.linalg.solve((design.T * (p * (1 - p))) @ design + RIDGE * np.eye(2), slope)
        found[0] = max(found[0], MIN_SLOPE)
    return Calibration(float(found[0]), float(found[1]))
