"""The effective history of a run: one curve a metric, with what a restart did over again taken out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst.curves.metricarrays import parted
from loganalyst.model import Curve, Metric, Role, Run

Roles = Mapping[str, tuple[Role, str]]

_TERMS = {"train_loss": "loss_component", "val_loss": "val_loss_component"}
_NO_LANGUAGE = ("recon_loss", "quantisation_loss", "kl", "codebook_usage", "reward", "value_loss", "rl_loss",
                "discriminator_loss", "generator_loss")  # fmt: skip
_SIDE = 3  # points that tell the level on a side of where a training begins anew
SHARE = 1 << 20  # points that are grouped at once
_BACK = 0.5  # of what the loss had fallen, the least that it goes back there


def effective(points: pl.DataFrame, sources: Mapping[str, str | None]) -> pl.Series | None:
    """The rows (UInt32) of the points that count, once each, by metric in file order; None means all of them.

    `sources` maps a file to its format.

    A metric that several formats logged is read from the one with most points, what several files say word for word
    from the first of them. Of two sessions that logged the same
    steps the later one counts: the earlier one was restarted from before them. A session that begins at or before the
    first step of the one before it is a fresh start and replaces it.
    """
    files = points["source"].unique()
    coded = _coded(points, files)
    rows = _once(points, coded) if len(sources) > 1 and len(files) > 1 else None
    formats = pl.Series("format", [sources.get(file) for file in files.drop_nulls()], pl.String)
    several = len(set(sources.values())) > 1 and len({sources.get(file) for file in files}) > 1
    if not several and points["session"].min() == points["session"].max():
        return rows
    if rows is None:
        rows = pl.int_range(points.height, dtype=pl.UInt32, eager=True)
    if several:
        rows = rows.filter(_chosen(coded[rows], formats))
    return rows.filter(_not_redone(coded["metric"][rows], points["session"][rows], points["step"][rows]))


def _coded(points: pl.DataFrame, files: pl.Series) -> pl.DataFrame:
    """Metric and source of each point as numbers: the names of millions of points take much memory."""
    metrics = points["metric"].unique()
    return pl.DataFrame([
        points["metric"].cast(pl.Enum(metrics)).to_physical(),
        points["source"].cast(pl.Enum(files.drop_nulls())).to_physical(),
    ])  # fmt: skip


def _chosen(coded: pl.DataFrame, formats: pl.Series) -> pl.Series:
    """Which points are of the format that has most of their metric; `formats` are those of the files."""
    counts = coded.group_by("metric", "source").len()
    counts = counts.with_columns(formats.gather(counts["source"]))
    sizes = counts.group_by("metric", "format").agg(pl.col("len").sum())
    chosen = sizes.sort("len", "format", descending=True).unique("metric", keep="first").select("metric", "format")
    taken = counts.join(chosen, on=["metric", "format"], how="semi", nulls_equal=True)
    both = taken.select(pl.col("metric").cast(pl.Int64) * (len(formats) + 1) + pl.col("source").fill_null(len(formats)))
    own = coded.select(pl.col("metric").cast(pl.Int64) * (len(formats) + 1) + pl.col("source").fill_null(len(formats)))
    return own.to_series().is_in(both.to_series().implode())


def _not_redone(metric: pl.Series, session: pl.Series, step: pl.Series) -> pl.Series:
    """Which points come before the earliest step that any later session logged again."""
    points = pl.DataFrame([metric, session, step])
    starts = (
        points.group_by("metric", "session").agg(start=pl.col("step").min()).sort("metric", "session", descending=True)
    )
    later = starts.select("metric", "session", redone=pl.col("start").cum_min().shift(1).over("metric"))
    redone = points.select("metric", "session").join(later, on=["metric", "session"], how="left", maintain_order="left")
    return (redone["redone"].is_null() | step.is_null() | (step < redone["redone"])).fill_null(value=False)


def _once(points: pl.DataFrame, coded: pl.DataFrame) -> pl.Series | None:
    """The rows of the points without those that another file said before, as a logger's own file does of what the job
    printed; those that several files wrote at the same time by their steps, as environments side by side do. None: all.
    """
    several = coded.group_by("metric").agg(pl.col("source").n_unique()).filter(pl.col("source") > 1)["metric"]
    if not several.len():
        return None
    of_several = coded["metric"].is_in(several.implode())
    rows = _first_said(points, coded, of_several)
    shared = coded[rows].hstack(points.select("session", "step", "time")[rows]).insert_column(0, rows)
    beside = shared["metric"].is_in(_beside(shared).implode())
    by_step = shared.select("row", "session", "step").filter(beside)
    by_step = by_step.sort("session", "step", nulls_last=True, maintain_order=True)
    return pl.concat([(~of_several).arg_true().rename("row"), rows.filter(~beside), by_step["row"]])


def _first_said(points: pl.DataFrame, coded: pl.DataFrame, asked: pl.Series) -> pl.Series:
    """The rows among the points `asked` that no earlier file holds.

    It looks at a share of the steps at a time: a grouping takes several times the memory of its input.
    """
    step, first = points["step"], pl.col("source").first().over("metric", "session", "step", "value")
    shares = 1 + points.height // SHARE
    found = [(asked & step.is_null()).arg_true()]
    for share in range(shares):
        rows = (asked & (step % shares == share)).fill_null(value=False).arg_true()
        said = coded[rows].hstack(points.select("session", "step", "value")[rows])
        found.append(rows.filter(said.select(pl.col("source") == first).to_series()))
    return pl.concat(found).sort().alias("row")


def _beside(points: pl.DataFrame) -> pl.Series:
    """Metrics whose files overlap in time, as far as that is known, and have steps that never go back."""
    files = points.group_by("metric", "source").agg(
        begin=pl.col("time").min(),
        end=pl.col("time").max(),
        on=(pl.col("step").diff() >= 0).over("session").all(),
    )
    after = pl.col("begin").slice(1) >= pl.col("end").slice(0, pl.len() - 1)
    metrics = files.sort("begin").group_by("metric").agg(pl.col("on").all(), after=after.fill_null(False).all())
    return metrics.filter("on", ~pl.col("after"))["metric"]


def curves(run: Run, roles: Roles) -> list[Curve]:
    """One curve a metric, in order of first appearance; steps are the row numbers where none were logged."""
    rows = effective(run.points, {s.path: s.format for s in run.sources}) if run.points.height else None
    return [
        Curve(p.metric, roles[p.metric][0], p.steps, p.values, p.times, p.epochs, p.sessions, p.lines, p.source)
        for p in parted(run.points, rows)
    ]


def last_training(found: list[Curve]) -> list[Curve]:
    """The curves from where the last of several trainings of one program began: there the epochs are counted from the
    first again, and the loss, of training or held out, goes back most of the way to where it had begun.
    """
    losses = ("train_loss", "val_loss")
    starts = [start for c in found if c.role.name in losses and (start := _begun_anew(c)) is not None]
    return [_since(c, max(starts)) for c in found] if starts else found


class _Start(NamedTuple):
    """Where a training began: session and step of its first loss, and the line (-1: not known) in this file."""

    session: int
    step: int
    line: int
    source: str | None


def _begun_anew(loss: Curve) -> _Start | None:
    """The last time that it did."""
    known = np.flatnonzero(np.isfinite(loss.values) & np.isfinite(loss.epochs))
    x, epochs, sessions = loss.values[known], loss.epochs[known], loss.sessions[known]
    back = np.flatnonzero((np.diff(epochs) < 0) & (np.diff(sessions) == 0)) + 1
    for k in back[::-1].tolist():
        if epochs[k] > epochs[0] or min(k, x.size - k) < _SIDE:
            continue
        parts = (x[: min(_SIDE, k - _SIDE) or 1], x[k - _SIDE : k], x[k : k + _SIDE])
        first, before, after = (float(np.median(part)) for part in parts)
        if first > before and after - before > _BACK * (first - before):
            at = known[k]
            return _Start(int(sessions[k]), int(loss.steps[at]), int(loss.lines[at]), loss.source)
    return None


def _since(curve: Curve, start: _Start) -> Curve:
    """The curve from there on: by the lines, where it stands in the same file, as values of held-out data may have the
    step of the training before.
    """
    if start.line >= 0 and curve.source == start.source and (curve.lines >= 0).all():
        later = curve.lines >= start.line
    else:
        later = curve.steps >= start.step
    kept = (curve.sessions > start.session) | ((curve.sessions == start.session) & later)
    arrays = ("steps", "values", "times", "epochs", "sessions", "lines")
    return replace(curve, **{name: getattr(curve, name)[kept] for name in arrays})


def stand_ins(found: list[Curve], roles: Mapping[str, Role]) -> list[Curve]:
    """Losses that were not logged, made of what was: the sum of all terms, or the logarithm of a perplexity."""
    train = _total(found, roles["train_loss"]) or _of_perplexity(found, "train_perplexity", roles["train_loss"])
    return [*train, *_of_perplexity(found, "val_perplexity", roles["val_loss"])]


@np.errstate(divide="ignore", invalid="ignore")  # a perplexity of 0 or less is none
def _of_perplexity(found: list[Curve], given: str, role: Role) -> list[Curve]:
    """The logarithm of the longest perplexity as a curve of `role`.

    Empty if the run logs a loss like it, or if the perplexity may be that of codes.
    """
    known = {c.role.name for c in found if len(c.values)}
    curves = [c for c in found if c.role.name == given and len(c.values)]
    if not curves or known & {role.name, _TERMS[role.name], *_NO_LANGUAGE}:
        return []
    curve = max(curves, key=lambda c: len(c.values))
    return [replace(curve, metric=f"ln {curve.metric}", role=role, values=np.log(np.maximum(curve.values, 0)))]


@np.errstate(over="ignore", invalid="ignore")  # a sum beyond the largest float is infinite
def _total(found: list[Curve], role: Role) -> list[Curve]:
    """The weighted sum of the logged loss terms as one more curve of `role`.

    Only where no curve has that role and all terms share their steps; else nothing.
    """
    terms = [c for c in found if c.role.name == "loss_component" and len(c.values)]
    shared = [c for c in terms if np.array_equal(c.steps, terms[0].steps)]
    if len(shared) < 2 or len(shared) < len(terms) or any(c.role.name == role.name for c in found):
        return []
    name = " + ".join(c.metric for c in shared) if len(shared) < 4 else f"sum of {len(shared)} loss terms"
    return [replace(shared[0], metric=name, role=role, values=np.sum([c.weight * c.values for c in shared], axis=0))]


def metrics(all_curves: list[Curve], roles: Roles) -> tuple[Metric, ...]:
    """Every metric with its role, for the report."""
    return tuple(
        Metric(c.metric, c.role.name, why, len(c.values), len(c.values) - int(np.count_nonzero(np.isfinite(c.values))))
        for c, (_, why) in ((c, roles.get(c.metric) or roles[c.metric.removeprefix("-")]) for c in all_curves)
    )
