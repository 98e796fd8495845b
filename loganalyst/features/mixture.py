"""Whether the files of a run seem to come from two trainings: their curves are then mixed."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import polars as pl

from loganalyst.curves.trainers import Trainer, recognised
from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, Run, Source
from loganalyst.thresholds import feature_limit

FEATURES = (
    Feature("mixed_file", "text", "", "A file that seems to come from another training than the file `mixed_with`; NULL where no two files differ so", "points"),
    Feature("mixed_with", "text", "", "The file that `mixed_file` does not fit", "points"),
    Feature("mixed_why", "text", "", "Why both files seem to come from two trainings", "points"),
)  # fmt: skip
_LEADING = ("train_loss", "reward")
_HELD_OUT = ("val_loss", "val_loss_component", "val_accuracy", "val_score", "val_error_rate")


def compute(context: Context) -> Computed:
    """All of FEATURES, for the first two files that do not fit."""
    files = {source.path: source for source in context.run.sources if source.points}
    found = next(_unfit(context, files), None) if 2 <= len(files) <= feature_limit("mixed_files") else None
    return dict(zip(("mixed_file", "mixed_with", "mixed_why"), found, strict=True)) if found else {}


def _unfit(context: Context, files: Mapping[str, Source]) -> Iterator[tuple[str, str, str]]:
    """Every two files that do not fit, and why."""
    extents = context.run.points.group_by("source", "metric", "session").agg(
        pl.col("step").min().alias("first"),
        pl.col("step").max().alias("last"),
        pl.col("time").min().alias("began"),
        pl.col("time").max().alias("ended"),
    )
    trainers = {path: _trainer(extents, source) for path, source in files.items()}
    held_out = {curve.metric for curve in context.curves if curve.role.name in _HELD_OUT}
    leading = extents.filter(pl.col("metric").is_in([c.metric for c in context.curves if c.role.name in _LEADING]))
    judged = {curve.metric for curve in context.curves if curve.role.judged}
    for a, b in combinations(files, 2):
        one, other = trainers[a], trainers[b]
        if one and other and _differ(one, other):
            yield a, b, f"{one.title} wrote one, {other.title} the other"
        if _apart(leading.filter(source=a), leading.filter(source=b)):
            yield a, b, "one was written long after the other, over the same steps and with other names"
        alike = files[a].format == files[b].format
        shared = extents.filter(source=a).join(extents.filter(source=b), on=("metric", "session")).sort("metric")
        shared = shared.filter(_over_the_same_steps()) if alike else shared  # a log may count other steps than a table
        for metric, session in shared.select("metric", "session").iter_rows():
            if metric in (judged if alike else held_out) and _differ_in(context.run, metric, session, a, b):
                yield a, b, f"both log {metric}, with other values"


def _trainer(extents: pl.DataFrame, source: Source) -> Trainer | None:
    """The trainer that one file alone shows, unless its users train all kinds."""
    found = recognised(Run(points=extents.filter(source=source.path), sources=(source,)))
    return found if found and found.kind != "any" else None


def _differ(one: Trainer, other: Trainer) -> bool:
    """Whether two trainers train different kinds; those of one kind write files of the same names."""
    return one.kind != other.kind and one.id not in other.ancestors and other.id not in one.ancestors


def _over_the_same_steps() -> pl.Expr:
    """Whether two logs share most steps of the shorter one."""
    shared = pl.min_horizontal("last", "last_right") - pl.max_horizontal("first", "first_right")
    shorter = pl.min_horizontal(pl.col("last") - pl.col("first"), pl.col("last_right") - pl.col("first_right"))
    return shared >= feature_limit("mixed_overlap") * shorter


def _apart(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two files log different losses (or rewards) over the same steps, at times that no time zone explains."""
    pairs = one.join(other, how="cross").filter(_over_the_same_steps())
    gap = pl.max_horizontal(pl.col("began_right") - pl.col("ended"), pl.col("began") - pl.col("ended_right"))
    far = gap.dt.total_seconds() > feature_limit("mixed_apart")
    return (
        bool(pairs.height)
        and not pairs.select((~far.fill_null(False)) | (pl.col("metric") == pl.col("metric_right"))).to_series().any()
    )


def _differ_in(run: Run, metric: str, session: int, a: str, b: str) -> bool:
    """Whether hardly any value of the metric in one file is in the other."""
    rows = run.points.filter(metric=metric, session=session).drop_nulls("value")
    values = [np.unique(rows.filter(source=file)["value"].to_numpy()) for file in (a, b)]
    shorter, longer = sorted((v[np.isfinite(v)] for v in values), key=len)
    if shorter.size < feature_limit("mixed_values"):
        return False
    margin = feature_limit("mixed_rounding") * np.abs(shorter)
    low, high = np.searchsorted(longer, [shorter - margin, shorter + margin])
    return float(np.mean(high > low)) < feature_limit("mixed_same")
