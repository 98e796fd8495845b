"""Where each printed record stands: one step axis a session from epochs, counters and steps, or a running index."""

import polars as pl


def place(records: pl.DataFrame) -> pl.DataFrame:
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
