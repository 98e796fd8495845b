"""Where each printed record stands: one step axis a session from epochs, counters and steps, or a running index."""

import polars as pl

from loganalyst.model import SCHEMAS


def points(numbers: pl.DataFrame) -> pl.DataFrame:
    """The `points` table of a log's numbers: row (of the record), role, name, value, session, line, time, flags."""

    def of(role: str) -> pl.Expr:
        value = pl.col("value").filter(pl.col("role") == role).first()
        return pl.when(value.abs() < 2**53).then(value).alias(role)

    records = numbers.group_by("row", maintain_order=True).agg(
        pl.col("session", "bar", "keras", "held_out", "header").first(),
        of("step"),
        of("batch"),
        of("total"),
        of("epoch"),
        series=pl.col("name").filter(pl.col("role") == "metric").first(),
    )
    placed = _placed(records).select(
        "row", "session", "step", "epoch", "keras", "batch", "total", refreshed=_refreshed()
    )
    found = (
        numbers.lazy()
        .filter(pl.col("role") == "metric")
        .select("row", "value", "line", "time", metric="name")
        .join(placed.lazy(), on="row", maintain_order="left")
        .collect()
        .pipe(_indexed)
        .pipe(_settled)
    )
    columns = [pl.col(k) if k != "source" else pl.lit(None, dtype=t).alias(k) for k, t in SCHEMAS["points"].items()]
    return found.select(columns)


def _placed(records: pl.DataFrame) -> pl.DataFrame:
    """The records with `step` (Int64) and `epoch` (Float64) filled as far as the log tells.

    Input, in file order: row, session, series (the name of its first metric), step, batch, total, epoch (Float64 or
    NULL), bar, keras, held_out, header (Boolean). Headers open an epoch for the counters after them and are dropped.
    """
    records = _epochs(records)
    records = _counted(records)
    return _filled(records)


def _epochs(records: pl.DataFrame) -> pl.DataFrame:
    opened = pl.when("header").then("epoch").forward_fill().over("session")
    return records.with_columns(
        epoch=pl.coalesce("epoch", pl.when(pl.col("step").is_null()).then(opened)),
        own=pl.col("epoch").is_not_null(),
    ).filter(~pl.col("header"))


def _counted(records: pl.DataFrame) -> pl.DataFrame:
    """Counters that start anew with each epoch (or each bar) become steps that go on."""
    i, group = pl.coalesce("step", "batch"), ["session", "series"]
    records = records.with_columns(
        i=pl.when(pl.col("held_out") & pl.col("step").is_null()).then(None).otherwise(i)
    ).with_columns(
        anew=((pl.col("i").diff() <= 0) & (pl.col("epoch").diff() > 0)).any().over(group),
        # without an epoch a counter that goes back is the next pass over the data
        passes=((pl.col("i").diff() < 0) & pl.col("step").is_null()).fill_null(False).cum_sum().over(group),
    )
    length = pl.coalesce("total", pl.col("i").max().over("session") + (pl.col("i").min().over("session") == 0))
    first = pl.col("epoch").filter(pl.col("i").is_not_null()).min().over("session")
    steps = (
        pl.when(pl.col("keras") & pl.col("epoch").is_not_null())
        .then("epoch")
        .when("anew")
        .then((pl.col("epoch") - first).floor() * length + pl.col("i"))
        .when(pl.col("epoch").is_null() & pl.col("step").is_null())
        .then(pl.col("passes") * length + pl.col("i"))
        .otherwise("i")
    )
    return records.with_columns(step=steps)


def _filled(records: pl.DataFrame) -> pl.DataFrame:
    """Records without a step of their own take the last one seen; where a session has none, the epoch or an index."""
    group = ["session", "series"]
    records = records.with_columns(
        stepped=pl.col("step").is_not_null().sum().over("session"),
        size=pl.len().over(group),
        epochal=(
            pl.col("epoch").is_not_null().all() & (pl.col("epoch") % 1 == 0).all() & pl.col("epoch").is_unique().all()
        ).over(group),
        index=pl.int_range(pl.len()).over(group).cast(pl.Float64),
    ).with_columns(all_epochal=pl.col("epochal").all().over("session"))
    # the commonest series that has neither step nor epoch of its own counts for the rest
    clock = (pl.col("size") == pl.col("size").filter(~pl.col("epochal")).max().over("session")) & ~pl.col("epochal")
    lone = (pl.col("stepped") == 0) & ~pl.col("all_epochal")
    records = records.with_columns(
        step=pl.when(pl.col("step").is_not_null())
        .then("step")
        .when((pl.col("stepped") == 0) & pl.col("all_epochal"))
        .then("epoch")
        .when(lone & clock)
        .then("index")
    )
    last = pl.col("step").forward_fill().over("session")
    sharing = pl.col("own") | pl.col("held_out") | (pl.col("stepped") > 0)
    return records.with_columns(step=pl.when(sharing).then(last).otherwise("step").cast(pl.Int64, strict=False))


def _indexed(points: pl.DataFrame) -> pl.DataFrame:
    """A running index a session and metric where there is no step at all."""
    if not points["step"].has_nulls():
        return points
    index = pl.int_range(pl.len(), dtype=pl.Int64).over("session", "metric")
    return points.with_columns(step=pl.coalesce("step", index))


def _settled(points: pl.DataFrame) -> pl.DataFrame:
    """Of the refreshes of a bar within one step the last; of a Keras epoch the last over the training data."""
    key = ["session", "metric", "step"]
    same_pass = (pl.col("total") == pl.col("total").first().over("session", "step")) | pl.col("total").is_null()
    if points["keras"].any():
        points = points.filter(~pl.col("keras") | same_pass)
    if not points["refreshed"].any():
        return points
    last = pl.col("row") == pl.col("row").max().over(key)
    return points.filter(~pl.col("refreshed") | last)


def _refreshed() -> pl.Expr:
    """Whether a record overwrites the one before: a bar, a pass over held-out data with its counter."""
    return pl.col("bar") | (pl.col("held_out") & pl.col("batch").is_not_null())
