"""Weights and calibration from labelled runs, and the same judged on families they were not fitted on."""

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

OUTER, INNER = 8, 4  # parts of the families: those judged by weights of the others, and within these for calibration
LEAST = 0.05  # a slope: what is likelier is never less sure
RIDGE = 1.0  # holds the slope near 1 and the offset near 0 where answers are few
Taken = NDArray[np.bool_]  # of the runs


@dataclass(frozen=True)
class Fitting:
    """Weights from labelled runs; `catalogue` has the judged ones, which stay without `items`. Answers `told` at first
    sight of public runs count beside those for `runs` in the calibration of what metrics carry.
    """

    catalogue: Catalogue
    runs: Labelled
    items: bool = True
    told: pl.DataFrame | None = None

    @cached_property
    def problem(self) -> Problem:
        """What there is to fit."""
        return problem(self.catalogue, self.runs)

    def weights(self, taken: Taken) -> Weights:
        """Fitted on the runs that are `taken`: the calibration on answers for families by weights that did not see
        them.
        """
        parts = self.parts(taken, INNER)
        unseen = pl.concat([self.answers(Weights(self.ratios(taken & ~part)), part) for part in parts])
        return Weights(self.ratios(taken), {kind: self._scale(kind, unseen.filter(kind=kind)) for kind in SCALES})

    def _scale(self, kind: Scale, answers: pl.DataFrame) -> Calibration:
        told = [] if self.told is None else [self.told.filter(kind=kind)]
        return platt(pl.concat([part.select("confidence", "first") for part in (answers, *told)]))

    def ratios(self, taken: Taken) -> Ratios:
        """The weights of items fitted on the runs that are `taken`."""
        return ratios(self.problem, taken) if self.items else {}

    def crossed(self) -> pl.DataFrame:
        """The answers for some families at a time by weights and calibration fitted on the others."""
        parts = self.parts(np.ones(self.runs.truths.height, bool), OUTER)
        return pl.concat([self.answers(self.weights(~part), part) for part in parts])

    def answers(self, weights: Weights, taken: Taken) -> pl.DataFrame:
        """What is answered (`answered`) for the runs that are `taken`."""
        return answered(self.catalogue.weighted(weights), self.runs.where(pl.Series(taken)))

    def parts(self, taken: Taken, most: int) -> list[Taken]:
        """The runs that are `taken` in at most so many parts that have no family in common."""
        family = self.runs.truths["family"].to_numpy()
        names = np.unique(family[taken])
        return [taken & np.isin(family, names[k::most]) for k in range(min(most, names.size))]


def platt(answers: pl.DataFrame) -> Calibration:
    """Slope and offset that make the log-odds of `confidence` those of being right (Platt 1999), by Newton's method."""
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
        found[0] = max(found[0], LEAST)
    return Calibration(float(found[0]), float(found[1]))
