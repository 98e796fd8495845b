"""Removes dates from numbers: a metric `_timestamp`, or steps that are seconds since 1970."""

import polars as pl

from loganalyst.curves import roles

FIRST, LAST = 946_684_800.0, 2_524_608_000.0  # 2000 to 2050, in seconds since 1970
UNITS = (1.0, 1e3, 1e6, 1e9)  # one second in seconds, milli-, micro- and nanoseconds
CLOCKS = ("wall_time", "time_left", "other", "step", "epoch")  # roles of metrics whose values may be dates


def without_dates(points: pl.DataFrame) -> pl.DataFrame:
    """The points with clocks set to 0 at their start: metrics of dates, and steps if all are dates.


    >>> rows = pl.DataFrame({"metric": ["_timestamp"] * 2, "step": [0, 1], "value": [1.7e9, 1.7e9 + 60]})
    >>> without_dates(rows)["value"].to_list()
    [0.0, 60.0]
    """
    if not points.height:
        return points
    value = pl.col("value")
    dated = points.group_by("metric").agg(_dates(value.filter(value.is_finite())).alias("dated"), first=value.min())
    found = {m: first for m, is_date, first in dated.iter_rows() if is_date and roles.assign([m])[m][0].name in CLOCKS}
    steps = points.select(_dates(pl.col("step").drop_nulls()).alias("dated"), first=pl.col("step").min()).row(0)
    return points.with_columns(
        value=value - pl.col("metric").replace_strict(found, default=0.0, return_dtype=pl.Float64),
        step=pl.col("step") - (steps[1] if steps[0] else 0),
    )


def _dates(values: pl.Expr) -> pl.Expr:
    """Whether there are values and all are times from FIRST to LAST, in any unit."""
    within = [((values >= FIRST * unit) & (values <= LAST * unit)).all() for unit in UNITS]
    return (values.len() > 0) & pl.any_horizontal(within)
