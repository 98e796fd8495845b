"""Fits weights and calibration on labelled runs, and evaluates them on families or sources that are left out."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.diagnosis.catalogue import SCALES, Catalogue
from loganalyst.diagnosis.rule import Scale, Weights
from loganalyst.evaluate.answers import answered
from loganalyst.evaluate.labelled import Labelled
from loganalyst.evaluate.platt import calibration
from loganalyst.evaluate.ratios import Problem, Ratios, problem, ratios

OUTER_PARTS, INNER_PARTS = 8, 4  # of the families: for the evaluation, and within each for the calibration
REPO_RUNS = 3  # a repository counts at most as much as this many runs
SOURCE_RUNS = 200  # a source counts at most as much as this many runs
SICK = 1 / 3  # the share of trainings with a fault for which "healthy" is calibrated
Taken = NDArray[np.bool_]  # of the runs
Key = Literal["family", "source"]
HEALTHY = "healthy"  # label and kind of answer


@dataclass(frozen=True)
class Fitting:
    """Fits weights on labelled runs. The weights of `catalogue` are the prior, or stay if not `items`.

    Answers at `first_sight` of public runs count in the calibration, with those for `runs`. The parts that are left out
    share no value of `key`.
    """

    catalogue: Catalogue
    runs: Labelled
    items: bool = True
    first_sight: pl.DataFrame | None = None
    key: Key = "family"

    @cached_property
    def problem(self) -> Problem:
        """The problem to fit."""
        return problem(self.catalogue, self.runs)

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """How often each run counts."""
        by_repo = pl.when(pl.col("repo").is_null()).then(1.0).otherwise(REPO_RUNS / pl.len().over("source", "repo"))
        counted = self.runs.truths.select("source", n=by_repo.clip(upper_bound=1.0))
        by_source = SOURCE_RUNS / pl.col("n").sum().over("source")
        return counted.select(pl.col("n") * by_source.clip(upper_bound=1.0))["n"].to_numpy()

    @cached_property
    def own_answers(self) -> pl.DataFrame:
        """The answers for all runs by the weights of the catalogue, without a calibration."""
        return answered(self.catalogue.weighted(Weights()), self.runs)

    def weights(self, taken: Taken) -> Weights:
        """Weights fitted on the `taken` runs. The calibration uses answers by weights that did not see their part."""
        if self.items:
            parts = self.parts(taken, INNER_PARTS)
            unseen = pl.concat([self.answers(Weights(self.ratios(taken & ~part)), part) for part in parts])
            order = np.concatenate([np.flatnonzero(part) for part in parts])
        else:
            unseen, order = self.own_answers.filter(pl.Series(taken)), np.flatnonzero(taken)
        unseen = unseen.with_columns(count=self.counts[order] * balance(unseen, self.counts[order]))
        sources = self.runs.truths["source"].filter(pl.Series(taken)).unique().to_list()
        return Weights(
            self.ratios(taken), {kind: calibration(self._of(kind, unseen, sources), kind) for kind in SCALES}
        )

    def _of(self, kind: Scale, answers: pl.DataFrame, sources: list[str]) -> pl.DataFrame:
        """The answers of a scale, with those at first sight whose source is none that was left out."""
        left_out = pl.col("source").is_in(self.runs.truths["source"].unique().to_list()) & ~pl.col("source").is_in(
            sources
        )
        kept = [] if self.first_sight is None else [self.first_sight.filter(~left_out)]
        columns = ("kind", "stated", "first", "group", "count")
        return pl.concat([part.select(columns) for part in (answers, *kept)]).filter(kind=kind)

    def ratios(self, taken: Taken) -> Ratios:
        """The weights of items, fitted on the `taken` runs."""
        return ratios(self.problem, self.counts * taken) if self.items else {}

    def crossed(self) -> pl.DataFrame:
        """The answers for all runs, each by weights and calibration fitted on runs of other parts."""
        count = OUTER_PARTS if self.key == "family" else self.runs.truths["source"].n_unique()
        parts = self.parts(np.ones(self.runs.truths.height, bool), count)
        return pl.concat([self.answers(self.weights(~part), part) for part in parts])

    def answers(self, weights: Weights, taken: Taken) -> pl.DataFrame:
        """The answers (`answered`) for the `taken` runs."""
        return answered(self.catalogue.weighted(weights), self.runs.where(pl.Series(taken)))

    def parts(self, taken: Taken, count: int) -> list[Taken]:
        """The `taken` runs in at most `count` parts that share no value of the key."""
        of_run = self.runs.truths[self.key].to_numpy()
        names = np.unique(of_run[taken])
        return [taken & np.isin(of_run, names[k::count]) for k in range(min(count, names.size))]


def balance(answers: pl.DataFrame, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each answer counts more or less, so that a share SICK of the trainings has a fault.

    Only answers of "healthy" differ: they are right as often as runs are healthy. Sources have other shares of faults,
    from none to all.
    """
    sick = (answers["labels"].list.first() != HEALTHY).to_numpy()
    training = (answers["group"] != "job").to_numpy()
    with_fault, without = (counts[training & some].sum() for some in (sick, ~sick))
    if not with_fault or not without:
        return np.ones_like(counts)
    factor = np.where(sick, SICK / with_fault, (1 - SICK) / without) * (with_fault + without)
    return np.where(training & (answers["kind"] == HEALTHY).to_numpy(), factor, 1.0)
