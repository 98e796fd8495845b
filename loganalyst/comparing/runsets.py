"""Compare related runs: put all parts of the comparison together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing import nextrun
from loganalyst.comparing.comparedruns import Gathered
from loganalyst.comparing.comparisonresult import Comparison, Corner, Scaling, Seeds, Sensitivity
from loganalyst.comparing.duplicateruns import duplicates
from loganalyst.comparing.failureregion import corner
from loganalyst.comparing.regressions import changed, regressions
from loganalyst.comparing.responsesurface import Model
from loganalyst.comparing.rivalcauses import separate
from loganalyst.comparing.runsizes import sizes
from loganalyst.comparing.scaling import scaling
from loganalyst.comparing.seeds import seeds
from loganalyst.comparing.sensitivity import sensitivity

LOSSES = ("val_loss", "train_loss")
COMMON = (
    "run_id",
    "path",
    "status",
    "label",
    "unstable",
    "steps",
    "failed",
    "seed",
)  # columns of the table that do not depend on the other runs
NO_OBJECTIVE = "no loss, score or reward is logged by these runs"


class Failures(NamedTuple):
    """The groups and contrasts of failed runs, as in an audit."""

    groups: pl.DataFrame
    contrasts: pl.DataFrame


def compared(all_: Gathered, failures: Failures, paths: Sequence[str]) -> Comparison:
    """The comparison of related runs. With two `paths`, the runs of the second are also compared with the first."""
    effects, model = Sensitivity(0, why_not=NO_OBJECTIVE), None
    if all_.objective is not None:
        effects, model = sensitivity(all_.space.settings, all_.counted, all_.values, all_.sign)
    bad, of_seeds, laws = corner(all_.space.settings, all_.failed), _seeds(all_), _scaling(all_)
    known = _known(all_, effects, model, bad)
    new = _new(all_.logged.listing["path"].to_list(), paths)
    return Comparison(
        runs=table(all_, of_seeds),
        groups=failures.groups,
        contrasts=failures.contrasts,
        objective=all_.objective,
        sensitivity=effects,
        corner=bad,
        seeds=of_seeds,
        scaling=laws,
        duplicates=duplicates(all_.space, all_.logged.features, all_.rows["value"]),
        regressions=regressions(all_.space, all_.logged.features, new, all_.failed) if new is not None else (),
        changed=changed(all_.space, new) if new is not None else {},
        suggestions=nextrun.suggestions(replace(known, seeds=of_seeds, scaling=laws)),
        sets=tuple(paths) if new is not None else (),
    )


def _known(all_: Gathered, effects: Sensitivity, model: Model | None, bad: Corner | None) -> nextrun.Known:
    """The results that a next run is chosen by."""
    order = np.argsort(all_.sign * all_.values, kind="stable")
    best = int(all_.counted[order[0]]) if order.size else None
    failed = all_.logged.listing.filter(pl.Series(all_.failed))["run_id"].to_list()
    diagnoses = (
        all_.logged.store.diagnoses.filter(pl.col("run_id").is_in(failed)).select("run_id", "json").sort("run_id")
    )
    return nextrun.Known(
        objective=all_.objective,
        sensitivity=effects,
        model=model,
        corner=bad,
        paths=dict(all_.logged.listing.select("run_id", "path").iter_rows()),
        best="" if best is None else all_.logged.listing["path"][best],
        settings={} if best is None else all_.space.settings_of(best),
        failing=float(all_.failed.mean()) if all_.failed.size else 0.0,
        separate=separate(all_.logged.listing, diagnoses.collect(), all_.logged.config),
    )


def _seeds(all_: Gathered) -> Seeds:
    if all_.objective is None:
        return Seeds(why_not=NO_OBJECTIVE)
    at = all_.counted
    ids, settings = [all_.space.runs[i] for i in at], [all_.space.settings_of(i) for i in at]
    return seeds(all_.space.same[at], ids, all_.values, settings, all_.sign)


def _scaling(all_: Gathered) -> Scaling:
    """Scaling laws of the objective if it is a loss, else of the loss that most runs have."""
    loss = all_.rows["value"]
    if all_.objective is None or all_.objective.role not in LOSSES:
        loss = min((all_.logged.features[c] for c in ("val_loss_best", "train_loss_last")), key=pl.Series.null_count)
    counted = all_.rows.select(loss=pl.when(pl.col("left_out").is_null()).then(loss))["loss"]
    return scaling(
        all_.space.runs, sizes(all_.logged.store, all_.space.runs, all_.logged.config), counted, all_.space.same
    )


def _new(runs: Sequence[str], paths: Sequence[str]) -> NDArray[np.bool_] | None:
    """Which runs belong to the second of two paths; None if there are not two sets."""
    if len(paths) != 2 or paths[0] == paths[1]:
        return None
    deeper = sorted(paths, key=len, reverse=True)
    path_of = [next((p for p in deeper if f"{run}/".startswith(f"{p}/")), "") for run in runs]
    new = np.array([p == paths[1] for p in path_of], dtype=bool)
    return new if new.any() and not new.all() else None


def table(all_: Gathered, found: Seeds) -> pl.DataFrame:
    """One row per run: the best first, then the runs that are not compared."""
    group = {run: g.id for g in found.groups for run in g.runs}
    table = all_.logged.listing.select("run_id", "path", "status", "label").with_columns(
        all_.rows.select(objective="value", left_out="left_out", unstable="unstable", steps="steps"),
        failed=pl.Series(all_.failed),
        group=pl.col("run_id").replace_strict(group, default=None, return_dtype=pl.String),
        seed=all_.space.seeds,
    )
    settings = all_.space.values.rename(lambda key: f"config.{key}")
    by = (pl.col("left_out").is_not_null(), all_.sign * pl.col("objective"), pl.col("path"))
    return pl.concat([table, settings], how="horizontal").sort(*by, nulls_last=True)
