"""What a session outlived: which lines training went on after, and which the program had already ended before."""

import numpy as np
import polars as pl

from loganalyst.features.limits import limit
from loganalyst.model import Run

_GLOG = r"\b[IWEF](\d{3,4}) (\d\d:\d\d:\d\d\.\d{1,6})"  # glog writes no year


def outlived(run: Run, session: int) -> pl.DataFrame:
    """The lines of a session with: row (UInt32), later (Int64: lines behind it in its file that hold a metric),
    behind (Int64: all lines behind it in its file, NULL where it is not known where that ends), logged (Boolean: its file
    holds metrics),
    alive (Boolean: training did not go on after it; a stop by the scheduler always is, and the end of a rank shortly
    before one), over (Boolean: the program had told its end before) and clock (String: month, day and time to the
    microsecond, NULL where the line has none).
    """
    lines = run.lines.filter(session=session)
    # of many points only what is asked of them
    points = run.points.lazy().filter(session=session).select("source", "line", "time").collect()
    later, logged = _later(lines, points)
    went_on = _elsewhere(lines, points, logged) >= limit("survived_elsewhere")
    ends = run.sessions.filter(session=session).select("source", "last_line").rows()
    behind = pl.col("file").replace_strict(dict(ends), default=None, return_dtype=pl.Int64) - pl.col("line")
    numbered = lines.with_row_index("row").with_columns(behind=behind, later=later, logged=logged)
    stop = pl.when(pl.col("part") == "stop").then("later").fill_null(strategy="backward").over("file", order_by="line")
    led_to_stop = (pl.col("part") == "confirm") & (pl.col("later") - stop <= limit("going_down")).fill_null(value=False)
    ended = pl.when(pl.col("part") == "end").then("line").min().over("file")
    return numbered.with_columns(
        alive=(pl.col("later") < limit("survived_after")) & ~went_on | led_to_stop | (pl.col("part") == "stop"),
        over=(pl.col("line") > ended).fill_null(value=False) & (pl.col("later") == 0),
        clock=_clock(),
    )


def _later(lines: pl.DataFrame, points: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """How many lines with metrics stand behind each line in its file, and whether the file has any points."""
    later, logged = np.zeros(lines.height, np.int64), np.zeros(lines.height, bool)
    for (file,), at in lines.with_row_index("row").group_by("file"):
        said, row, place = points["line"].filter(points["source"] == file), at["row"].to_numpy(), at["line"].to_numpy()
        logged[row] = len(said) > 0
        if len(said := said.drop_nulls()):
            holds = np.zeros(max(said.max(), place.max()) + 2, np.int32)
            holds[said.to_numpy()] = 1
            later[row] = np.cumsum(holds[::-1], dtype=np.int32)[::-1][place + 1]
    return pl.Series("later", later), pl.Series("logged", logged)


def _clock() -> pl.Expr:
    text = pl.col("text")
    glog = text.str.extract(_GLOG, 1).str.zfill(4) + " " + text.str.extract(_GLOG, 2).str.pad_end(15, "0")
    return pl.coalesce(glog, pl.col("time").dt.strftime("%m%d %H:%M:%S%.6f"))


def _elsewhere(lines: pl.DataFrame, points: pl.DataFrame, logged: pl.Series) -> pl.Series:
    """How many lines with metrics are of a later time, where the line's own file has none and so cannot tell."""
    asked = ~logged & lines["time"].is_not_null()
    if not asked.any():
        return pl.zeros(lines.height, dtype=pl.Int64, eager=True)
    times = points.drop_nulls(["line", "time"]).unique(["source", "line"])["time"].sort()
    behind = times.search_sorted(lines["time"], side="right").cast(pl.Int64)
    return pl.select(pl.when(asked).then(times.len() - behind).otherwise(0)).to_series()
