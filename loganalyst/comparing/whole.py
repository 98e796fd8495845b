"""Many runs beside each other, from their store to what is to be learned from them together."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.auditing.batch import SECONDS, Audit, audit
from loganalyst.comparing import nextrun
from loganalyst.comparing.corner import corner
from loganalyst.comparing.objective import Goal, values
from loganalyst.comparing.regressions import changed, regressions
from loganalyst.comparing.result import Comparison, Corner, Objective, Scaling, Seeds, Sensitivity
from loganalyst.comparing.rivals import separate
from loganalyst.comparing.scaling import scaling
from loganalyst.comparing.seeds import seeds
from loganalyst.comparing.sensitivity import sensitivity
from loganalyst.comparing.sizes import sizes
from loganalyst.comparing.space import Space, space
from loganalyst.comparing.surface import Model
from loganalyst.comparing.twins import duplicates
from loganalyst.store import Outcome, Store

LOSSES = ("val_loss", "train_loss")
NOTHING = "no loss, score or reward is logged by these runs"


def compare(
    paths: Sequence[str | Path],
    store: str | Path | None = None,
    *,
    metric: str | None = None,
    goal: Goal | None = None,
    jobs: int | None = None,
    seconds: float = SECONDS,
    full: bool = False,
    watch: Callable[[Outcome, int | None], None] | None = None,
) -> Comparison:
    """Compare every run at or below `paths`; of two paths the second one's runs are also held against the first one's.

    `metric` is what runs are compared by (None: a held-out loss or score, else a reward or the training loss), `goal`
    whether `min` or `max` of it is best, where its name does not say. The others are those of `audit`. Raises
    SourceError for a metric that no run has, StoreError where the store cannot be used.
    """
    with ExitStack() as stack:
        folder = Path(store or stack.enter_context(TemporaryDirectory(prefix="loganalyst-")))
        found = audit(paths, folder, jobs=jobs, seconds=seconds, full=full, watch=watch)
        return _compared(found, _gathered(found, Store(folder), metric, goal), [os.path.abspath(p) for p in paths])


@dataclass(frozen=True)
class Gathered:
    """What is known of the readable runs, each table in the order of `listing`: `rows` has the objective and whether it
    counts, `failed` which runs were unstable or have a likely cause.
    """

    store: Store
    listing: pl.DataFrame
    config: pl.DataFrame
    features: pl.DataFrame
    space: Space
    objective: Objective | None
    rows: pl.DataFrame
    failed: NDArray[np.bool_]

    @property
    def sign(self) -> float:
        """-1 where higher is better."""
        return -1.0 if self.objective and self.objective.worse == "down" else 1.0

    @property
    def counted(self) -> NDArray[np.int64]:
        """Positions of the runs that are compared."""
        return np.flatnonzero(self.rows["left_out"].is_null().to_numpy() & (self.objective is not None))

    @property
    def values(self) -> NDArray[np.float64]:
        """The objective of these."""
        return self.rows["value"].cast(pl.Float64).to_numpy()[self.counted]


def _gathered(found: Audit, store: Store, metric: str | None, goal: Goal | None) -> Gathered:
    listing = found.runs.filter(pl.col("status") != "unreadable").drop_nulls("run_id")
    mine = pl.col("run_id").is_in(listing["run_id"].to_list())
    config = store.config.filter(mine).collect()
    features = store.features.filter(mine).collect()
    features = listing.select("run_id").join(features, on="run_id", how="left", maintain_order="left")
    of = space(listing["run_id"].to_list(), config)
    objective, rows = values(store, features, listing, of, metric=metric, goal=goal)
    likely = (listing["status"] == "diagnosis_complete") & (listing["verdict"] == "likely").fill_null(False)
    return Gathered(store, listing, config, features, of, objective, rows, (rows["unstable"] | likely).to_numpy())


def _compared(found: Audit, all_: Gathered, paths: Sequence[str]) -> Comparison:
    told, model = Sensitivity(0, why_not=NOTHING), None
    if all_.objective is not None:
        told, model = sensitivity(all_.space.settings, all_.counted, all_.values, all_.sign)
    bad, of_seeds, laws = corner(all_.space.settings, all_.failed), _seeds(all_), _scaling(all_)
    known = _known(all_, told, model, bad)
    new = _new(all_.listing["path"].to_list(), paths)
    return Comparison(
        runs=_table(all_, of_seeds),
        groups=found.groups,
        contrasts=found.contrasts,
        objective=all_.objective,
        sensitivity=told,
        corner=bad,
        seeds=of_seeds,
        scaling=laws,
        duplicates=duplicates(all_.space, all_.features, all_.rows["value"]),
        regressions=regressions(all_.space, all_.features, new, all_.failed) if new is not None else (),
        changed=changed(all_.space, new) if new is not None else {},
        suggestions=nextrun.suggestions(replace(known, seeds=of_seeds, scaling=laws)),
        sets=tuple(paths) if new is not None else (),
    )


def _known(all_: Gathered, told: Sensitivity, model: Model | None, bad: Corner | None) -> nextrun.Known:
    """What a next run is chosen by."""
    order = np.argsort(all_.sign * all_.values, kind="stable")
    best = int(all_.counted[order[0]]) if order.size else None
    failed = all_.listing.filter(pl.Series(all_.failed))["run_id"].to_list()
    diagnoses = all_.store.diagnoses.filter(pl.col("run_id").is_in(failed)).select("run_id", "json").sort("run_id")
    return nextrun.Known(
        objective=all_.objective,
        sensitivity=told,
        model=model,
        corner=bad,
        paths=dict(all_.listing.select("run_id", "path").iter_rows()),
        best="" if best is None else all_.listing["path"][best],
        told={} if best is None else all_.space.told(best),
        failing=float(all_.failed.mean()) if all_.failed.size else 0.0,
        separate=separate(all_.listing, diagnoses.collect(), all_.config),
    )


def _seeds(all_: Gathered) -> Seeds:
    if all_.objective is None:
        return Seeds(why_not=NOTHING)
    at = all_.counted
    ids, told = [all_.space.runs[i] for i in at], [all_.space.told(i) for i in at]
    return seeds(all_.space.same[at], ids, all_.values, told, all_.sign)


def _scaling(all_: Gathered) -> Scaling:
    """Laws of the objective where it is a loss, else of the loss that most runs have."""
    loss = all_.rows["value"]
    if all_.objective is None or all_.objective.role not in LOSSES:
        loss = min((all_.features[c] for c in ("val_loss_best", "train_loss_last")), key=pl.Series.null_count)
    counted = all_.rows.select(loss=pl.when(pl.col("left_out").is_null()).then(loss))["loss"]
    return scaling(all_.space.runs, sizes(all_.store, all_.space.runs, all_.config), counted, all_.space.same)


def _new(runs: Sequence[str], paths: Sequence[str]) -> NDArray[np.bool_] | None:
    """Which runs are of the second of two paths; None where there are not two sets."""
    if len(paths) != 2 or paths[0] == paths[1]:
        return None
    deeper = sorted(paths, key=len, reverse=True)
    of = [next((p for p in deeper if f"{run}/".startswith(f"{p}/")), "") for run in runs]
    new = np.array([p == paths[1] for p in of], dtype=bool)
    return new if new.any() and not new.all() else None


def _table(all_: Gathered, found: Seeds) -> pl.DataFrame:
    """One row a run, the best first, then those that are not compared."""
    group = {run: g.id for g in found.groups for run in g.runs}
    table = all_.listing.select("run_id", "path", "status", "label").with_columns(
        all_.rows.select(objective="value", left_out="left_out", unstable="unstable", steps="steps"),
        failed=pl.Series(all_.failed),
        group=pl.col("run_id").replace_strict(group, default=None, return_dtype=pl.String),
        seed=all_.space.seeds,
    )
    settings = all_.space.values.rename(lambda key: f"config.{key}")
    by = (pl.col("left_out").is_not_null(), all_.sign * pl.col("objective"), pl.col("path"))
    return pl.concat([table, settings], how="horizontal").sort(*by, nulls_last=True)
