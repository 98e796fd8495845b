"""The effective history of a run: one curve per metric, without the steps that a restart repeated."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.curves.metricarrays import by_metric
from loganalyst.curves.roleclaims import is_unsure
from loganalyst.curves.roles import names_held_out, names_split
from loganalyst.curves.taskstages import of_stages
from loganalyst.model import Curve, Metric, Role, Run

Roles = Mapping[str, tuple[Role, str]]

_NEAR_REFERENCE = 0.1  # nats of implicit reward, in which a policy still is its reference
_TERM_ROLES = {"train_loss": "loss_component", "val_loss": "val_loss_component"}
_NON_LANGUAGE_ROLES = ("recon_loss", "quantisation_loss", "kl", "codebook_usage", "reward", "value_loss", "rl_loss",
                "discriminator_loss", "generator_loss")  # fmt: skip
_AVERAGE = re.compile(r"mean|avg|average")  # "Avg_Fitness"
_LEVEL_POINTS = 3  # points of a level on one side of a possible start of a training
GROUPED_POINTS = 1 << 20  # points grouped at once, to bound the memory
_PRINTED_WEIGHT = 0.8  # of a printed point, next to one of a logger's file
_MIN_RETURN = 0.5  # share of the fall so far by which the loss must rise where a training starts over


def effective(points: pl.DataFrame, sources: Mapping[str, str | None]) -> pl.Series | None:
    """The rows (UInt32) of the points that count, each once, by metric in file order; None means all of them.

    `sources` maps a file to its format. Of a metric that several formats logged, the format with most points counts. A
    point that several files repeat exactly counts in the first of them. Of two sessions that logged the same steps, the
    later one counts, because the earlier one was restarted from before these steps. A session that begins at or before
    the first step of the previous session is a fresh start and replaces it.
    """
    files = points["source"].unique()
    coded = _coded(points, files)
    rows = _without_copies(points, coded) if len(sources) > 1 and len(files) > 1 else None
    formats = pl.Series("format", [sources.get(file) for file in files.drop_nulls()], pl.String)
    several = len(set(sources.values())) > 1 and len({sources.get(file) for file in files}) > 1
    if not several and points["session"].min() == points["session"].max():
        return rows
    if rows is None:
        rows = pl.int_range(points.height, dtype=pl.UInt32, eager=True)
    if several:
        rows = rows.filter(_of_main_format(coded[rows], formats))
    return rows.filter(_not_repeated(coded["metric"][rows], points["session"][rows], points["step"][rows]))


def _coded(points: pl.DataFrame, files: pl.Series) -> pl.DataFrame:
    """Metric and source of each point as numbers, because the names of millions of points need much memory."""
    metrics = points["metric"].unique()
    return pl.DataFrame([
        points["metric"].cast(pl.Enum(metrics)).to_physical(),
        points["source"].cast(pl.Enum(files.drop_nulls())).to_physical(),
    ])  # fmt: skip


def _of_main_format(coded: pl.DataFrame, formats: pl.Series) -> pl.Series:
    """Which points come from the format with most points of their metric; `formats` are those of the files. Those of a
    logger's file count if they are nearly as many as the printed ones. Printed ones are rounded and may lack steps, and
    a trainer may print its last evaluation twice.
    """
    counts = coded.group_by("metric", "source").len()
    counts = counts.with_columns(formats.gather(counts["source"]))
    sizes = counts.group_by("metric", "format").agg(pl.col("len").sum())
    printed = pl.when(pl.col("format") == "text").then(_PRINTED_WEIGHT).otherwise(1.0)
    sizes = sizes.with_columns(pl.col("len") * printed)
    sizes = sizes.sort("len", pl.col("format") != "text", "format", descending=True)
    chosen = sizes.unique("metric", keep="first").select("metric", "format")
    taken = counts.join(chosen, on=["metric", "format"], how="semi", nulls_equal=True)
    both = taken.select(pl.col("metric").cast(pl.Int64) * (len(formats) + 1) + pl.col("source").fill_null(len(formats)))
    own = coded.select(pl.col("metric").cast(pl.Int64) * (len(formats) + 1) + pl.col("source").fill_null(len(formats)))
    return own.to_series().is_in(both.to_series().implode())


def _not_repeated(metric: pl.Series, session: pl.Series, step: pl.Series) -> pl.Series:
    """Which points come before the earliest step that a later session logged again."""
    points = pl.DataFrame([metric, session, step])
    starts = (
        points.group_by("metric", "session").agg(start=pl.col("step").min()).sort("metric", "session", descending=True)
    )
    later = starts.select("metric", "session", repeated=pl.col("start").cum_min().shift(1).over("metric"))
    repeated = points.select("metric", "session").join(
        later, on=["metric", "session"], how="left", maintain_order="left"
    )
    return (repeated["repeated"].is_null() | step.is_null() | (step < repeated["repeated"])).fill_null(value=False)


def _without_copies(points: pl.DataFrame, coded: pl.DataFrame) -> pl.Series | None:
    """The rows of the points without those that an earlier file holds, such as printed copies of a logger's own file.
    Points that several files wrote at the same time, such as parallel environments, are sorted by step. None: all rows.
    """
    several = coded.group_by("metric").agg(pl.col("source").n_unique()).filter(pl.col("source") > 1)["metric"]
    if not several.len():
        return None
    of_several = coded["metric"].is_in(several.implode())
    rows = _first_file_rows(points, coded, of_several)
    shared = coded[rows].hstack(points.select("session", "step", "time")[rows]).insert_column(0, rows)
    parallel = shared["metric"].is_in(_parallel_metrics(shared).implode())
    by_step = shared.select("row", "session", "step").filter(parallel)
    by_step = by_step.sort("session", "step", nulls_last=True, maintain_order=True)
    return pl.concat([(~of_several).arg_true().rename("row"), rows.filter(~parallel), by_step["row"]])


def _first_file_rows(points: pl.DataFrame, coded: pl.DataFrame, asked: pl.Series) -> pl.Series:
    """The rows among the points `asked` that no earlier file holds.

    Works on a share of the steps at a time, because a grouping takes several times the memory of its input.
    """
    step, first = points["step"], pl.col("source").first().over("metric", "session", "step", "value")
    shares = 1 + points.height // GROUPED_POINTS
    found = [(asked & step.is_null()).arg_true()]
    for share in range(shares):
        rows = (asked & (step % shares == share)).fill_null(value=False).arg_true()
        points_here = coded[rows].hstack(points.select("session", "step", "value")[rows])
        found.append(rows.filter(points_here.select(pl.col("source") == first).to_series()))
    return pl.concat(found).sort().alias("row")


def _parallel_metrics(points: pl.DataFrame) -> pl.Series:
    """Metrics whose files overlap in time, where the times are known, and have steps that never go back."""
    files = points.group_by("metric", "source").agg(
        begin=pl.col("time").min(),
        end=pl.col("time").max(),
        on=(pl.col("step").diff() >= 0).over("session").all(),
    )
    begins_after = pl.col("begin").slice(1) >= pl.col("end").slice(0, pl.len() - 1)
    metrics = files.sort("begin").group_by("metric").agg(pl.col("on").all(), after=begins_after.fill_null(False).all())
    return metrics.filter("on", ~pl.col("after"))["metric"]


def curves(run: Run, roles: Roles) -> list[Curve]:
    """One curve per metric, in order of first appearance. Without logged steps, steps are row numbers."""
    rows = effective(run.points, {s.path: s.format for s in run.sources}) if run.points.height else None
    return [
        Curve(p.metric, roles[p.metric][0], p.steps, p.values, p.times, p.epochs, p.sessions, p.lines, p.source)
        for p in by_metric(run.points, rows)
    ]


def last_training(found: list[Curve]) -> list[Curve]:
    """The curves from the start of the last training, if one program trained several times.

    Where a training starts, the epochs (or, without epochs, the steps) count from the first again, and a loss or a
    score of the training data returns most of the way to its first value. If that is so once, and all count the same
    epochs, each count is a training. Stages of one training (`curves.taskstages`) are all of it.
    """
    if (stages := of_stages(found)) is not None:
        return stages
    starts = [start for c in found if _shows_starts(c) and (start := _last_training_start(c)) is not None]
    return [_from_start(c, max(starts)) for c in found] if starts else found


def _shows_starts(curve: Curve) -> bool:
    """Whether the metric is a loss or a reward, or another one of the training data, such as `train's auc`."""
    of_training = names_split(curve.metric) and not names_held_out(curve.metric)
    return curve.role.name in ("train_loss", "val_loss", "reward") or (
        curve.role.name in ("other", "train_accuracy") and of_training
    )


class _Start(NamedTuple):
    """The start of a training: session and step of its first loss, its line (-1: not known) and its file."""

    session: int
    step: int
    line: int
    source: str | None


def _last_training_start(loss: Curve) -> _Start | None:
    """The last start of a training that this loss (or score) shows."""
    counted = loss.epochs if np.isfinite(loss.epochs).any() else loss.steps.astype(float)
    known = np.flatnonzero(np.isfinite(loss.values) & np.isfinite(counted))
    x, epochs, sessions = loss.values[known], counted[known], loss.sessions[known]
    if "loss" not in loss.role.name:
        x = -x  # scores rise
    back = np.flatnonzero((np.diff(epochs) < 0) & (np.diff(sessions) == 0)) + 1
    starts = [k for k in back.tolist() if epochs[k] <= epochs[0] and _starts_over(x, k)]
    if not starts:
        return None
    # A table may hold one training after another, of as many epochs each, and some begin below the end of the last one.
    each = np.split(epochs, back)
    at = known[int(back[-1]) if all(np.array_equal(part, each[0]) for part in each) else starts[-1]]
    return _Start(int(loss.sessions[at]), int(loss.steps[at]), int(loss.lines[at]), loss.source)


def _starts_over(x: NDArray[np.float64], k: int) -> bool:
    """Whether the loss `x` returns most of the way to its first value at position `k`."""
    if min(k, x.size - k) < _LEVEL_POINTS:
        return False
    stretches = (x[: min(_LEVEL_POINTS, k - _LEVEL_POINTS) or 1], x[k - _LEVEL_POINTS : k], x[k : k + _LEVEL_POINTS])
    first, before, after = (float(np.median(stretch)) for stretch in stretches)
    return first > before and after - before > _MIN_RETURN * (first - before)


def _from_start(curve: Curve, start: _Start) -> Curve:
    """The curve from the start on. In the same file, lines decide, because held-out values may carry the step of the
    previous training.
    """
    if start.line >= 0 and curve.source == start.source and (curve.lines >= 0).all():
        later = curve.lines >= start.line
    else:
        later = curve.steps >= start.step
    kept = (curve.sessions > start.session) | ((curve.sessions == start.session) & later)
    arrays = ("steps", "values", "times", "epochs", "sessions", "lines")
    return replace(curve, **{name: getattr(curve, name)[kept] for name in arrays})


def stand_ins(found: list[Curve], roles: Mapping[str, Role]) -> list[Curve]:
    """Curves that were not logged, made of others: a loss as the sum of all terms or the logarithm of a perplexity, the
    fitness of a population as the reward, and the margin of two implicit rewards.
    """
    train = _sum_of_terms(found, roles["train_loss"]) or _log_perplexity(found, "train_perplexity", roles["train_loss"])
    held_out = _log_perplexity(found, "val_perplexity", roles["val_loss"])
    added = [*train, *held_out, *_margins(found, roles["preference_margin"])]
    return [*added, *_fitness([*found, *added], roles["reward"])]


def _margins(found: list[Curve], role: Role) -> list[Curve]:
    """The reward of chosen answers less that of rejected ones, if both begin at 0 as those of a policy do: it is then
    its own reference. Scores of a reward model begin anywhere. Empty if a margin is logged.
    """
    chosen, rejected = (
        [c for c in found if c.role.name == name and len(c.values)] for name in ("chosen_reward", "rejected_reward")
    )
    if not chosen or not rejected or any(c.role.name == role.name for c in found):
        return []
    won, lost = chosen[0], rejected[0]
    begins = max(abs(float(won.values[0])), abs(float(lost.values[0])))
    if not begins < _NEAR_REFERENCE or not np.array_equal(won.steps, lost.steps):
        return []
    return [replace(won, metric=f"{won.metric} - {lost.metric}", role=role, values=won.values - lost.values)]


def _fitness(found: list[Curve], role: Role) -> list[Curve]:
    """The average fitness of a population, else the best one, as a curve of `role`. Empty next to a loss or a reward,
    because detectors call a score of the model its fitness.
    """
    named = [c for c in found if c.role.name == "fitness" and len(c.values)]
    if not named or any(c.role.name == role.name or "loss" in c.role.name for c in found):
        return []
    curve = next((c for c in named if _AVERAGE.search(c.metric.lower())), named[0])
    return [replace(curve, metric=f"reward: {curve.metric}", role=role)]


@np.errstate(divide="ignore", invalid="ignore")  # a perplexity of 0 or less is invalid
def _log_perplexity(found: list[Curve], given: str, role: Role) -> list[Curve]:
    """The logarithm of the longest perplexity as a curve of `role`.

    Empty if the run logs such a loss itself, or if the perplexity may be that of a codebook.
    """
    known = {c.role.name for c in found if len(c.values)}
    curves = [c for c in found if c.role.name == given and len(c.values)]
    if not curves or known & {role.name, _TERM_ROLES[role.name], *_NON_LANGUAGE_ROLES}:
        return []
    curve = max(curves, key=lambda c: len(c.values))
    return [replace(curve, metric=f"ln {curve.metric}", role=role, values=np.log(np.maximum(curve.values, 0)))]


@np.errstate(over="ignore", invalid="ignore")  # a sum beyond the largest float is infinite
def _sum_of_terms(found: list[Curve], role: Role) -> list[Curve]:
    """The weighted sum of the logged loss terms as one more curve of `role`.

    Empty if a curve has that role, or if the terms do not share their steps.
    """
    terms = [c for c in found if c.role.name == "loss_component" and len(c.values)]
    shared = [c for c in terms if np.array_equal(c.steps, terms[0].steps)]
    if len(shared) < 2 or len(shared) < len(terms) or any(c.role.name == role.name for c in found):
        return []
    name = " + ".join(c.metric for c in shared) if len(shared) < 4 else f"sum of {len(shared)} loss terms"
    return [replace(shared[0], metric=name, role=role, values=np.sum([c.weight * c.values for c in shared], axis=0))]


def metrics(all_curves: list[Curve], reasons: Mapping[str, str]) -> tuple[Metric, ...]:
    """Every metric with its role and the reason for it, for the report."""
    return tuple(
        Metric(
            c.metric,
            c.role.name,
            reasons.get(c.metric) or reasons[c.metric.removeprefix("-")],
            len(c.values),
            len(c.values) - int(np.count_nonzero(np.isfinite(c.values))),
            c.role_confidence,
            is_unsure(c.role_confidence),
        )
        for c in all_curves
    )
