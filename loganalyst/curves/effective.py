"""The effective history of a run: one curve per metric, without the steps that a restart repeated."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from loganalyst.curves.metricarrays import by_metric
from loganalyst.curves.roleclaims import is_unsure
from loganalyst.model import Curve, Metric, Role, Run

Roles = Mapping[str, tuple[Role, str]]

GROUPED_POINTS = 1 << 20  # points grouped at once, to bound the memory
_PRINTED_WEIGHT = 0.8  # of a printed point, next to one of a logger's file


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
