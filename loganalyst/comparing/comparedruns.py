"""The data that runs are compared by: their listing, settings, features and objective."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import Objective
from loganalyst.comparing.runobjective import Goal, values
from loganalyst.comparing.settingspace import Space, space
from loganalyst.store import Store


@dataclass(frozen=True)
class Logged:
    """The readable runs of an audit: their `listing`, their settings, and their features in the same order."""

    store: Store
    listing: pl.DataFrame
    config: pl.DataFrame
    features: pl.DataFrame

    def at(self, rows: NDArray[np.int64]) -> "Logged":
        """Only the runs at these positions."""
        listing = self.listing[rows]
        config = self.config.join(listing.select("run_id"), on="run_id", how="semi", maintain_order="left")
        return Logged(self.store, listing, config, self.features[rows])


@dataclass(frozen=True)
class Gathered:
    """Runs with their settings and objective, each table in the order of `logged`. `rows` has the objective and whether
    it counts; `failed` marks the runs that were unstable or have a likely cause.
    """

    logged: Logged
    space: Space
    objective: Objective | None
    rows: pl.DataFrame
    failed: NDArray[np.bool_]

    @property
    def sign(self) -> float:
        """-1 if higher is better, else 1."""
        return -1.0 if self.objective and self.objective.worse == "down" else 1.0

    @property
    def counted(self) -> NDArray[np.int64]:
        """Positions of the runs that are compared."""
        return np.flatnonzero(self.rows["left_out"].is_null().to_numpy() & (self.objective is not None))

    @property
    def values(self) -> NDArray[np.float64]:
        """The objective of the counted runs."""
        return self.rows["value"].cast(pl.Float64).to_numpy()[self.counted]


def logged(runs: pl.DataFrame, store: Store) -> Logged:
    """The data in the store of the readable runs among an audit's `runs`."""
    listing = runs.filter(pl.col("status") != "unreadable").drop_nulls("run_id")
    selected = store.of(listing["run_id"])
    features = selected.features.collect()
    features = listing.select("run_id").join(features, on="run_id", how="left", maintain_order="left")
    return Logged(selected, listing, selected.config.collect(), features)


def gathered(found: Logged, metric: str | None, goal: Goal | None) -> Gathered:
    """The runs with their settings and objective. Raises SourceError for a metric that no run has."""
    listing = found.listing
    settings = space(listing["run_id"].to_list(), found.config)
    objective, rows = values(found.store, found.features, listing, settings, metric=metric, goal=goal)
    likely = (listing["status"] == "diagnosis_complete") & (listing["verdict"] == "likely").fill_null(False)
    return Gathered(found, settings, objective, rows, (rows["unstable"] | likely).to_numpy())
