"""Which log lines training survived, and which came after the end of the program."""

from datetime import datetime
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.blame.linetraits import has_trait
from loganalyst.model import Run, table
from loganalyst.model.labels import CATCHABLE
from loganalyst.thresholds import blame_limit

_GLOG = r"\b[IWEF](\d{3,4}) (\d\d:\d\d:\d\d\.\d{1,6})"  # `E0131 12:00:01.123456`; glog writes no year
_LOG = ["session", "file"]
_LATE = (pl.col("captures").str.json_path_match("$.late") == "true").fill_null(value=False)
_COPIES = [*_LOG, "rank", "pattern"]  # of an exception
# What a process reports if a device fails under it, or under its peer
DEVICE_ECHOES = ("cuda_error", "nccl_error", "nccl_timeout", "gpu_hardware", "segfault", "device_assert")


def outlived(run: Run, session: int | None = None) -> pl.DataFrame:
    """The lines of one session, or of all, with these columns:

    row (UInt32), later (Int64: later lines of the session in the same file that hold a metric), behind (Int64: all
    later lines of the session in the file, NULL if its end is not known), logged (Boolean: the session has metrics in
    this file), alive (Boolean: training did not survive the line; always true for a stop by the scheduler, and for the
    end of a rank shortly before one), over (Boolean: the program had reported its end before) and clock (String: month,
    day and time to the microsecond, NULL if the line has no time).
    """
    lines, sessions, points = run.lines, run.sessions, run.points.lazy()
    if session is not None:
        chosen = pl.col("session") == session
        lines, sessions, points = lines.filter(chosen), sessions.filter(chosen), points.filter(chosen)
    return _of_no_lines() if lines.is_empty() else _outlived(lines, sessions, points)


@cache
def _of_no_lines() -> pl.DataFrame:
    """The answer for a run without job logs, which twenty queries would find out slowly."""
    return _outlived(table("lines"), table("sessions"), table("points").lazy())


def _outlived(lines: pl.DataFrame, sessions: pl.DataFrame, points: pl.LazyFrame) -> pl.DataFrame:
    metrics = points.select("session", "time", "line", file="source").collect()  # of many points only these columns
    ends = sessions.group_by("session", file="source").agg(pl.col("first_line").min(), pl.col("last_line").max())
    lines = lines.join(ends, on=_LOG, how="left", maintain_order="left").with_columns(
        behind=pl.col("last_line") - pl.col("line")
    )
    lines = _later(lines.with_row_index("row").with_columns(clock=_clock()), metrics)
    printer = pl.col("captures").str.json_path_match("$.printer")
    # the program caught it at its top, behind the training whose lines waited in a buffer
    left = (printer == "handler") & _LATE & pl.col("untrained")
    printer = pl.when(left).then(pl.lit("interpreter")).otherwise(printer)
    lines = lines.with_columns(printer=pl.when(pl.col("part") == "root").then(printer))
    lines = lines.with_columns(apart=_apart())
    went_on = _elsewhere(lines, metrics) >= blame_limit("survived_elsewhere")
    stop = pl.when(pl.col("part") == "stop").then("later").fill_null(strategy="backward").over(_LOG, order_by="line")
    led_to_stop = (pl.col("part") == "confirm") & (pl.col("later") - stop <= blame_limit("going_down")).fill_null(
        value=False
    )
    ended = pl.when(pl.col("part") == "end").then("line").min().over(_LOG)
    reported = (pl.col("line") <= _report_end()).fill_null(value=False)
    alive = (pl.col("later") < blame_limit("survived_after")) & ~went_on & ~_other_program() | reported
    alive = (alive | _uncaught() | _of_a_failing_device()) & ~_handled() & ~_came_back()
    return lines.with_columns(
        alive=(alive | led_to_stop | (pl.col("part") == "stop")) & ~_beside_done(),
        over=(pl.col("line") > ended).fill_null(value=False) & (pl.col("later") == 0),
    ).drop("first_line", "last_line", "printer", "untrained", "apart")


def _uncaught() -> pl.Expr:
    """Whether the interpreter printed an exception in a session that neither has an end mark behind it nor was stopped
    by the scheduler.

    Python ends after such an exception. What follows it was printed before, and waited in a buffer: more metrics than a
    buffer holds are of a later start. Behind an exception that metrics precede, no lines at all may be more.
    """
    of_training = has_trait("finished") | has_trait("early_stop")
    shown = (pl.col("part") == "end") | has_trait("went_on")
    went_on, training_ended = (
        (pl.col("line").filter(one).max().over(_LOG) > pl.col("line")).fill_null(value=False)
        for one in (shown & ~of_training, shown & of_training)
    )
    late = _LATE & pl.col("untrained")
    ended_later = went_on | (training_ended & ~late)  # the end of a training that was left may wait in the buffer too
    uncaught = (pl.col("printer") == "interpreter") & (pl.col("later") <= blame_limit("flushed"))
    uncaught &= pl.col("untrained") | (pl.col("behind") <= blame_limit("flushed"))
    stopped = (pl.col("part") == "stop").any().over("session")
    return (uncaught & ~stopped & ~ended_later).fill_null(value=False)


def _beside_done() -> pl.Expr:
    """Whether the scheduler cancelled a step of the job behind the end of the program, which trained no more: a step
    beside the training, such as a monitor.
    """
    end = pl.when(pl.col("part") == "end").then("later").forward_fill().over(_LOG, order_by="line")
    few = end - pl.col("later") < blame_limit("survived_after")
    return has_trait("step_cancelled") & few.fill_null(value=False)


def _other_program() -> pl.Expr:
    """Whether an interpreter printed an exception, and the log's own records go on behind it: it ran another one."""
    behind = pl.col("line").filter(has_trait("went_on")).max().over(_LOG) > pl.col("line")
    return ((pl.col("printer") == "interpreter") & behind).fill_null(value=False)


def _of_a_failing_device() -> pl.Expr:
    """Whether a driver's word about a device goes shortly before an error of a library that ended training: other
    ranks print some metrics in between.
    """
    last = pl.col("label").is_in(DEVICE_ECHOES) & (pl.col("later") < blame_limit("survived_after"))
    echo = pl.when(last).then("later").fill_null(strategy="backward").over(_LOG, order_by="line")
    word = has_trait("device_word") & (pl.col("part") == "root")
    return (word & (pl.col("later") - echo <= blame_limit("going_down"))).fill_null(value=False)


def _came_back() -> pl.Expr:
    """Whether a program that a watchdog called hung ended its work later."""
    end = pl.col("line").filter(pl.col("part") == "end").max().over(_LOG)
    return ((pl.col("label") == "hang") & (end > pl.col("line"))).fill_null(value=False)


def _handled() -> pl.Expr:
    """Whether the program printed an exception by itself and went on: it did so again and again, or it ended its work
    later. A failed exit shows that it did not go on.
    """
    own = pl.col("printer").is_in(["logger", "handler"])
    by_library = pl.col("printer").is_in(["library", "command"])
    one_line = (pl.col("part") == "root") & pl.col("block").is_null() & pl.col("label").is_in(CATCHABLE)
    often = own.sum().over(_COPIES) >= blame_limit("printed_again")
    # the last words of a log may be the same exception of several ranks
    more_behind = pl.col("behind").filter(own).min().over(_COPIES) > blame_limit("last_words")
    often &= pl.col("apart").any().over(_COPIES) | more_behind.fill_null(value=True)
    end = pl.col("line").filter(pl.col("part") == "end")
    ended_later = (end.max().over(_LOG) > pl.col("line")) | (end.min().over(_LOG) <= _report_end())
    worked = pl.col("line").filter(has_trait("went_on")).max().over(_LOG) > pl.col("line")
    ended_later = ended_later.fill_null(value=False) | worked.fill_null(value=False)
    failed = (pl.col("part") == "confirm").any().over("session")
    by_child = pl.col("printer") == "child"
    handled = own & often | (own | by_child | by_library | one_line) & ended_later
    told = pl.col("captures").str.json_path_match("$.handled") == "true"
    return (handled & ~failed | told | _of_a_thread()).fill_null(value=False)


def _of_a_thread() -> pl.Expr:
    """Whether an exception ended a thread of the program, and the program went on without another fault behind it."""
    thread = pl.col("printer") == "thread"
    fault = pl.col("part").is_in(["root", "stop", "peer", "confirm"]) & ~thread.fill_null(value=False)
    none_behind = (pl.col("line").filter(fault).max().over(_LOG) < pl.col("line")).fill_null(value=True)
    done = pl.col("line").filter(pl.col("part") == "end").max().over(_LOG) > pl.col("line")
    return thread & none_behind & ((pl.col("behind") >= blame_limit("records_go_on")) | done.fill_null(value=False))


def _apart() -> pl.Expr:
    """Whether the program printed something else between this exception and its copy before. Only a log record goes
    before a traceback of a logger.
    """
    line, own = pl.col("line"), pl.col("printer").is_in(["logger", "handler"])
    head = pl.when(has_trait("traceback")).then(line).forward_fill().over(_LOG, order_by="line")
    before = pl.when(own).then(line).forward_fill().shift(1).over(_COPIES, order_by="line")
    records = pl.when(pl.col("printer") == "logger").then(1).otherwise(0)
    return (own & (head - before - 1 > records)).fill_null(value=False)


def _report_end() -> pl.Expr:
    """The last line of a report on the end of the job, which precedes the output of the job; NULL without one."""
    follows = pl.col("captures").str.json_path_match("$.job_output") == "follows"
    return pl.col("line").filter(follows).min().over(_LOG)


def _later(lines: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """The lines with `later`, `logged`, and `untrained` (Boolean: no metric in the session and file before the line).

    The lines of a session in a file are contiguous.
    """
    later, logged, untrained = (np.zeros(lines.height, kind) for kind in (np.int64, bool, bool))
    metric_lines = _metric_lines(points)
    for (file,), at in lines.with_row_index("at").group_by("file"):
        if (holding := metric_lines.get(file)) is not None:
            row, place = at["at"].to_numpy(), at["line"].to_numpy()
            first = at["first_line"].fill_null(1).to_numpy()
            last = np.maximum(at["last_line"].fill_null(int(holding[-1])).to_numpy(), place)
            end = np.searchsorted(holding, last, "right")
            later[row] = end - np.searchsorted(holding, place, "right")
            begin = np.searchsorted(holding, first)
            logged[row] = end > begin
            untrained[row] = begin == np.searchsorted(holding, place)
    return lines.with_columns(later=later, logged=logged, untrained=untrained)


def _metric_lines(points: pl.DataFrame) -> dict[str | None, NDArray[np.intp]]:
    """The line numbers that hold a metric, by file, sorted and unique."""
    known = points.drop_nulls("line")
    runs, numbers = known["file"].rle().struct.unnest(), known["line"]  # grouping would copy millions of names
    slices: dict[str | None, list[NDArray[np.int64]]] = {}
    for file, end, length in zip(runs["value"], runs["len"].cum_sum(), runs["len"], strict=True):
        slices.setdefault(file, []).append(numbers.slice(end - length, length).to_numpy())
    found = {}
    for file, parts in slices.items():
        holds = np.zeros(max(int(part.max()) for part in parts) + 1, bool)
        for part in parts:
            holds[part] = True
        found[file] = np.flatnonzero(holds)
    return found


def _clock() -> pl.Expr:
    text = pl.col("text")
    glog = text.str.extract(_GLOG, 1).str.zfill(4) + " " + text.str.extract(_GLOG, 2).str.pad_end(15, "0")
    return pl.coalesce(glog, pl.col("time").dt.strftime("%m%d %H:%M:%S%.6f"))


def _elsewhere(lines: pl.DataFrame, points: pl.DataFrame) -> pl.Series:
    """The number of lines with metrics at a later time, for lines whose own file has no metrics.

    A clock without a year gets the year of the first metric.
    """
    first = points["time"].min()
    asked = lines.filter(~pl.col("logged"), pl.col("clock").is_not_null())
    if not asked.height or not isinstance(first, datetime):
        return pl.zeros(lines.height, dtype=pl.Int64, eager=True)
    stamp = pl.format("{}{}", pl.lit(first.year), "clock").str.to_datetime(
        "%Y%m%d %H:%M:%S%.f", time_unit="us", time_zone="UTC", strict=False
    )
    asked = asked.select("row", "session", pl.coalesce("time", stamp)).drop_nulls("time")
    times = points.lazy().filter(pl.col("session").is_in(asked["session"].unique().implode()))
    times = (
        times.drop_nulls(["line", "time"]).unique(["session", "file", "line"]).select("session", "time").sort("time")
    )
    known = times.with_columns(until=pl.int_range(1, pl.len() + 1).over("session")).collect()
    before = asked.sort("time").join_asof(known, on="time", by="session", check_sortedness=False)
    count = before.join(known.group_by("session").len("all"), on="session", how="left")
    later = count.select("row", elsewhere=pl.col("all").cast(pl.Int64).fill_null(0) - pl.col("until").fill_null(0))
    return lines.join(later, on="row", how="left", maintain_order="left")["elsewhere"].fill_null(0)
