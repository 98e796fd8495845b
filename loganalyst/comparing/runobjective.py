"""What runs are compared by: one number a run, with its direction, and which runs count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from loganalyst.comparing.comparisonresult import Objective
from loganalyst.comparing.settingspace import Space
from loganalyst.curves.roles import assign
from loganalyst.errors import SourceError, nearest
from loganalyst.store import Store

Goal = Literal["min", "max"]


@dataclass(frozen=True)
class Measure:
    """A value that every run has a feature for: `name` has its metric, `value` the number."""

    role: str
    name: str
    value: str
    worse: Literal["up", "down"]
    how: Literal["best", "last"]


# in the order of asking: held-out values first
MEASURES = (
    Measure("val_loss", "val_loss_metric", "val_loss_best", "up", "best"),
    Measure("val_score", "val_score_metric", "val_score_best", "down", "best"),
    Measure("reward", "reward_metric", "reward_last", "down", "last"),
    Measure("train_loss", "train_loss_metric", "train_loss_last", "up", "last"),
)
SPEED = Measure("throughput", "throughput_metric", "throughput_best", "down", "best")
KNOWN = 0.5  # of the runs that have most, so many must have a measure
CHANGED = ("objective", "regularisation")  # kinds of settings that change what a loss means, or what it can reach
UNSTABLE = ("train_loss_ends_nonfinite", "val_loss_ends_nonfinite")
CUT = ("failed", "killed", "preempted", "cancelled", "timeout", "node_fail", "running")
WHOLE, SHORT = 0.95, 0.5  # of the usual steps: a run that was ended came to its end; one that was not did not
LENGTHS = ("duration", "batch")  # kinds of settings that change how many steps a whole run has


def values(
    store: Store,
    told: pl.DataFrame,
    listing: pl.DataFrame,
    space: Space,
    *,
    metric: str | None = None,
    goal: Goal | None = None,
) -> tuple[Objective | None, pl.DataFrame]:
    """The objective (None: nothing comparable is logged), and a row for each of the space's runs, in its order:
    `run_id`, `value` (NULL: not known), `unstable`, `steps`, and `left_out`: why it is not compared (NULL: it is).

    `told` are the features of the runs, `listing` an audit's, both in that order. Raises SourceError for a metric that
    no run has, or of which nobody knows whether lower is better.
    """
    ids = list(space.runs)
    chosen = _named(store, ids, metric, goal) if metric else _chosen(told, space)
    if chosen is None:
        return None, _rows(told, listing, pl.Series([None] * len(ids), dtype=pl.Float64), space)
    measure, name, why = chosen
    names = told[measure.name].drop_nulls() if measure.name else pl.Series([name, ""])
    value = told[measure.value] if measure.name and names.n_unique() == 1 else _read(store, ids, measure, name)
    rows = _rows(told, listing, value, space)
    left_out = dict(rows["left_out"].drop_nulls().value_counts(sort=True).iter_rows())
    known = rows.height - sum(left_out.values())
    return Objective(name, measure.role, measure.worse, measure.how, why, known, left_out), rows


def _chosen(told: pl.DataFrame, space: Space) -> tuple[Measure, str, str] | None:
    """The first measure that most runs have, and its commonest name."""
    known = {m: int(told[m.value].is_finite().sum()) for m in MEASURES}
    enough = [m for m in MEASURES if known[m] and known[m] >= KNOWN * float(max(known.values()))]
    if not enough:
        return None
    first, why = enough[0], f"{enough[0].role} is what most runs log of the held-out data"
    changed = next((s.key for s in space.settings if s.kind in CHANGED[:1]), None)
    score = next((m for m in enough if m.role in ("val_score", "reward")), None)
    if first.role == "val_loss" and changed and score:
        first, why = score, f"{changed} varies, and with it what a loss means"
    elif first.role not in ("val_loss", "val_score"):
        why = "nothing is logged of held-out data"
    name = (
        told[first.name].drop_nulls().value_counts().sort("count", first.name, descending=[True, False])[first.name][0]
    )
    return first, str(name), why


def _named(store: Store, ids: Sequence[str], metric: str, goal: Goal | None) -> tuple[Measure, str, str]:
    """The metric that the user names; harm by its role, or as told."""
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
            "--metric", f"of {metric!r} it is not known whether lower is better", "add --goal min or --goal max"
        )
    how = "best" if role.name.startswith("val_") else "last"
    return (
        Measure(role.name, "", "", "up" if worse == "up" else "down", "best" if how == "best" else "last"),
        metric,
        "as asked",
    )


def _read(store: Store, ids: Sequence[str], measure: Measure, metric: str) -> pl.Series:
    """One number a run from its points: the best finite value, or the median of the last tenth of them."""
    finite = pl.col("value").filter(pl.col("value").is_finite())
    best = finite.min() if measure.worse == "up" else finite.max()
    last = finite.tail(pl.max_horizontal(finite.len() // 10, 1)).median()
    found = (
        store.points.filter(pl.col("run_id").is_in(list(ids)), pl.col("metric") == metric)
        .group_by("run_id").agg(found=best if measure.how == "best" else last).collect()
    )  # fmt: skip
    order = pl.DataFrame({"run_id": list(ids)}, schema={"run_id": pl.String})
    return order.join(found, on="run_id", how="left", maintain_order="left")["found"]


def _rows(told: pl.DataFrame, listing: pl.DataFrame, value: pl.Series, space: Space) -> pl.DataFrame:
    """Which runs count: those that trained to their end."""
    finite = pl.when(pl.col("value").is_finite()).then(pl.col("value"))
    ended = listing.select("run_id", "ended_as", "status")
    rows = told.select(
        "run_id",
        value=value,
        unstable=pl.any_horizontal(
            *(pl.col(c).fill_null(False) for c in UNSTABLE), pl.col("train_loss_divergence_count").fill_null(0) > 0
        ),
        steps="run_last_step",
    ).with_columns(finite)  # fmt: skip
    rows = rows.join(ended, on="run_id", how="left", maintain_order="left")
    cut = pl.col("ended_as").is_in(CUT)
    usual = rows.filter(~cut, ~pl.col("unstable"))["steps"].median()
    steps = pl.col("steps") / (usual or 1.0)
    same_length = usual is not None and not any(s.kind in LENGTHS for s in space.settings)
    early = cut & ((steps < WHOLE) | ~pl.lit(same_length) | steps.is_null())
    why = (
        pl.when(pl.col("unstable")).then(pl.lit("unstable"))
        .when(pl.col("status") == "unreadable").then(pl.lit("not readable"))
        .when(early).then(pl.lit("ended early"))
        .when(pl.lit(same_length) & (steps < SHORT)).then(pl.lit("much shorter than the others"))
        .when(pl.col("value").is_null()).then(pl.lit("not logged"))
    )  # fmt: skip
    return rows.with_columns(left_out=why).drop("ended_as", "status")
