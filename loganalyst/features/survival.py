"""What a session outlived: which lines training went on after, and which the program had already ended before."""

import polars as pl

SURVIVED = 2  # later lines with metrics that show training went on (one may be the dump of what went wrong)
WENT_ON = 100  # lines with metrics of a later time that, standing in other files, show the same
GOING_DOWN = 50  # lines with metrics that other ranks may print between the end of one and the scheduler's stop
_GLOG = r"\b[IWEF](\d{3,4}) (\d\d:\d\d:\d\d\.\d{1,6})"  # glog writes no year


def outlived(lines: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """The lines of one session with: row (UInt32), later (Int64: lines behind it in its file that hold a metric),
    alive (Boolean: training did not go on after it; a stop by the scheduler always is, and the end of a rank shortly
    before one), over (Boolean: the program had
    told its end before) and clock (String: month, day and time to the microsecond, NULL where the line has none).
    """
    logged = points.drop_nulls("line").select("line", "time", file="source").unique(["file", "line"]).sort("line")
    passed = logged.with_columns(passed=pl.int_range(1, pl.len() + 1).over("file")).select("file", "line", "passed")
    placed = lines.with_row_index("row").sort("line").join_asof(passed, on="line", by="file", check_sortedness=False)
    placed = placed.join(logged.group_by("file").agg(logged=pl.len()), on="file", how="left").sort("row")
    later = pl.col("logged").fill_null(0).cast(pl.Int64) - pl.col("passed").fill_null(0)
    alive = (later < SURVIVED) & (_elsewhere(placed, logged) < WENT_ON)
    stop = pl.when(pl.col("part") == "stop").then(later).fill_null(strategy="backward").over("file", order_by="line")
    led_to_stop = (pl.col("part") == "confirm") & (later - stop <= GOING_DOWN).fill_null(value=False)
    ended = pl.when(pl.col("part") == "end").then("line").min().over("file")
    return placed.with_columns(
        later=later,
        alive=alive | led_to_stop | (pl.col("part") == "stop"),
        over=(pl.col("line") > ended).fill_null(value=False) & (later == 0),
        clock=_clock(),
    ).drop("logged", "passed")


def _clock() -> pl.Expr:
    text = pl.col("text")
    glog = text.str.extract(_GLOG, 1).str.zfill(4) + " " + text.str.extract(_GLOG, 2).str.pad_end(15, "0")
    return pl.coalesce(glog, pl.col("time").dt.strftime("%m%d %H:%M:%S%.6f"))


def _elsewhere(lines: pl.DataFrame, logged: pl.DataFrame) -> pl.Series:
    """How many lines with metrics are of a later time, where the line's own file has none and so cannot tell."""
    times = logged.drop_nulls("time")["time"].sort()
    behind = times.search_sorted(lines["time"], side="right").cast(pl.Int64)
    alone = lines["file"].is_in(logged["file"].unique().implode()) | lines["time"].is_null()
    return pl.select(pl.when(alone).then(0).otherwise(times.len() - behind)).to_series()
