"""Choose the objective of a comparison: one number per run, its direction, and which runs count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from loganalyst.comparing.comparisonlimits import limits
from loganalyst.comparing.comparisonresult import Objective
from loganalyst.comparing.settingspace import Space
from loganalyst.curves.roles import assign
from loganalyst.errors import SourceError, nearest
from loganalyst.store import Store

Goal = Literal["min", "max"]


@dataclass(frozen=True)
class Measure:
    """A possible objective, from features: `name` is the feature with its metric, `value` the one with the number."""

    role: str
    name: str
    value: str
    worse: Literal["up", "down"]
    how: Literal["best", "last"]


# in order of preference: held-out values first
MEASURES = (
    Measure("val_loss", "val_loss_metric", "val_loss_best", "up", "best"),
    Measure("val_score", "val_score_metric", "val_score_best", "down", "best"),
    Measure("reward", "reward_metric", "reward_last", "down", "last"),
    Measure("train_loss", "train_loss_metric", "train_loss_last", "up", "last"),
)
SPEED = Measure("throughput", "throughput_metric", "throughput_best", "down", "best")
UNSTABLE = ("train_loss_ends_nonfinite", "val_loss_ends_nonfinite")
STOPPED = ("failed", "killed", "preempted", "cancelled", "timeout", "node_fail", "running")
LENGTH_KINDS = ("duration", "batch")  # kinds of settings that change the number of steps of a complete run
LOSS_KIND = "objective"  # kind of settings that change the meaning of a loss


def values(
    store: Store,
    features: pl.DataFrame,
    listing: pl.DataFrame,
    space: Space,
    *,
    metric: str | None = None,
    goal: Goal | None = None,
) -> tuple[Objective | None, pl.DataFrame]:
    """The objective (None: nothing comparable is logged), and one row per run of the space, in its order: `run_id`,
    `value` (NULL: not known), `unstable`, `steps`, and `left_out`: why the run is not compared (NULL: it is).

    `features` and the audit's `listing` have the same order. Raises SourceError for a metric that no run has, or whose
    better direction is not known.
    """
    ids = list(space.runs)
    chosen = _named(store, ids, metric, goal) if metric else _chosen(features, space)
    if chosen is None:
        return None, _rows(features, listing, pl.Series([None] * len(ids), dtype=pl.Float64), space)
    measure, name, why = chosen
    names = features[measure.name].drop_nulls() if measure.name else pl.Series([name, ""])
    value = features[measure.value] if measure.name and names.n_unique() == 1 else _read(store, ids, measure, name)
    rows = _rows(features, listing, value, space)
    left_out = dict(rows["left_out"].drop_nulls().value_counts(sort=True).iter_rows())
    known = rows.height - sum(left_out.values())
    return Objective(name, measure.role, measure.worse, measure.how, why, known, left_out), rows


def _chosen(features: pl.DataFrame, space: Space) -> tuple[Measure, str, str] | None:
    """The first measure that most runs have, its most common metric name, and the reason."""
    known = {m: int(features[m.value].is_finite().sum()) for m in MEASURES}
    enough = [
        m for m in MEASURES if known[m] and known[m] >= limits().objective.known_share * float(max(known.values()))
    ]
    if not enough:
        return None
    first, why = enough[0], f"most runs log a {enough[0].role.removeprefix('val_')} on held-out data"
    changed = next((s.key for s in space.settings if s.kind == LOSS_KIND), None)
    score = next((m for m in enough if m.role in ("val_score", "reward")), None)
    if first.role == "val_loss" and changed and score:
        first, why = score, f"{changed} varies, so losses are not comparable"
    elif first.role == "reward":
        why = "most runs log the reward of an agent"
    elif first.role == "train_loss":
        some = any(known[m] for m in MEASURES if m.role in ("val_loss", "val_score"))
        why = "few runs log a metric on held-out data" if some else "no metric on held-out data is logged"
    return first, str(most_common(features[first.name])), why


def most_common(names: pl.Series) -> str | None:
    """The most common name; in a tie, the first one in alphabetical order. None if all are NULL."""
    counts = names.drop_nulls().value_counts().sort("count", names.name, descending=[True, False])
    return str(counts[names.name][0]) if counts.height else None


def _named(store: Store, ids: Sequence[str], metric: str, goal: Goal | None) -> tuple[Measure, str, str]:
    """The metric that the user named; its direction comes from `goal`, else from its role."""
    points = store.points.filter(pl.col("run_id").is_in(list(ids)))
    if points.filter(metric=metric).head(1).collect().is_empty():
        names = points.select(pl.col("metric").unique()).collect()["metric"].to_list()
        raise SourceError(
            "--metric",
            f"no run has a metric {metric!r}",
            nearest(metric, names) or f"there are {', '.join(sorted(names)[:8])}",
        )
    role = assign([metric])[metric][0]
    worse = {"min": "up", "max": "down", None: role.worse}[goal]
    if worse is None:
        raise SourceError(
            "--metric", f"it is not known whether a lower {metric!r} is better", "add --goal min or --goal max"
        )
    how = "best" if role.name.startswith("val_") else "last"
    return (
        Measure(role.name, "", "", "up" if worse == "up" else "down", "best" if how == "best" else "last"),
        metric,
        "as asked",
    )


def _read(store: Store, ids: Sequence[str], measure: Measure, metric: str) -> pl.Series:
    """One number per run from its points: the best finite value, or the median of the last tenth."""
    finite = pl.col("value").filter(pl.col("value").is_finite())
    best = finite.min() if measure.worse == "up" else finite.max()
    last = finite.tail(pl.max_horizontal(finite.len() // 10, 1)).median()
    found = (
        store.points.filter(pl.col("run_id").is_in(list(ids)), pl.col("metric") == metric)
        .group_by("run_id").agg(found=best if measure.how == "best" else last).collect()
    )  # fmt: skip
    order = pl.DataFrame({"run_id": list(ids)}, schema={"run_id": pl.String})
    return order.join(found, on="run_id", how="left", maintain_order="left")["found"]


def _rows(features: pl.DataFrame, listing: pl.DataFrame, value: pl.Series, space: Space) -> pl.DataFrame:
    """The value of each run, and why it is left out; only complete, stable runs count."""
    finite = pl.when(pl.col("value").is_finite()).then(pl.col("value"))
    ended = listing.select("run_id", "ended_as", "status")
    rows = features.select(
        "run_id",
        value=value,
        unstable=pl.any_horizontal(
            *(pl.col(c).fill_null(False) for c in UNSTABLE), pl.col("train_loss_divergence_count").fill_null(0) > 0
        ),
        steps="run_last_step",
    ).with_columns(finite)  # fmt: skip
    rows = rows.join(ended, on="run_id", how="left", maintain_order="left")
    limit = limits().objective
    stopped = pl.col("ended_as").is_in(STOPPED)
    usual = rows.filter(~stopped, ~pl.col("unstable"))["steps"].median()
    steps = pl.col("steps") / (usual or 1.0)
    same_length = usual is not None and not any(s.kind in LENGTH_KINDS for s in space.settings)
    early = stopped & ((steps < limit.complete_share) | ~pl.lit(same_length) | steps.is_null())
    why = (
        pl.when(pl.col("unstable")).then(pl.lit("unstable"))
        .when(pl.col("status") == "unreadable").then(pl.lit("not readable"))
        .when(early).then(pl.lit("ended early"))
        .when(pl.lit(same_length) & (steps < limit.short_share)).then(pl.lit("much shorter than the others"))
        .when(pl.col("value").is_null()).then(pl.lit("not logged"))
    )  # fmt: skip
    return rows.with_columns(left_out=why).drop("ended_as", "status")
