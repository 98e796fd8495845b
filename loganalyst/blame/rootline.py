"""Order of blame: which line of each session states its root cause."""

from typing import Any

import polars as pl

from loganalyst.blame.faultplaces import first_failures, placed
from loganalyst.blame.linetraits import says
from loganalyst.blame.peerreports import explained
from loganalyst.blame.tiers import tier
from loganalyst.model import Run
from loganalyst.thresholds import blame_limit

MESSAGE = 3  # lines behind an exception that its message may go on for
_LOG = ["session", "file"]
_PART, _LABEL, _LINE, _PATTERN = pl.col("part"), pl.col("label"), pl.col("line"), pl.col("pattern")
# a bar that stands at its beginning says nothing yet
_WAITS = says("step_printed") & (pl.col("captures").str.json_path_match("$.step") == "0")
_OWN = _PART.is_in(["root", "stop"])
_TOLD = (_PART == "confirm") & _LABEL.is_not_null()


def session_roots(run: Run, lines: pl.DataFrame) -> dict[int, dict[str, Any] | None]:
    """The row of `lines` (as `outlived` gives them) that states the root cause of each session (None: no fault found),
    with the label that is told of it, the rank and node that failed first, and the `teller`, its own line's rank.
    """
    numbers = pl.concat([run.sessions["session"], run.lines["session"]]).drop_nulls().unique().sort()
    told = pl.coalesce("label", pl.lit("other"))
    found = roots(lines).with_columns(label=told, teller="rank", rank="first_rank", node="first_node")
    rows = {row["session"]: row for row in found.iter_rows(named=True)}
    return {n: rows.get(n) for n in numbers}


def judged_session(run: Run) -> int:
    """The last session; while it has said nothing yet (a start, and no line that tells anything), the one before."""
    rows = run.sessions.select("session", "first_line", "last_line").vstack(
        run.lines.select("session", first_line="line", last_line="line")
    )
    numbers = rows["session"].drop_nulls().unique().sort(descending=True)
    spoken = pl.concat([run.lines.filter(~_WAITS)["session"], run.points["session"].unique()])
    long = rows.filter(pl.col("last_line") - pl.col("first_line") >= blame_limit("said_nothing"))["session"]
    said = numbers.filter(numbers.is_in(spoken.implode()) | numbers.is_in(long.implode()))
    return int(said[0] if len(said) else numbers[0]) if len(numbers) else 0


def roots(lines: pl.DataFrame) -> pl.DataFrame:
    """The row of `lines` (as `outlived` gives them) that states the root cause of each session, at most one.

    Rows are in order of session, with the rank and node that failed first. The root cause is the first fault or stop
    of the strongest tier (`rules/tiers.yaml`) that training did not survive. Within a chain of exceptions, a specific
    fault goes before a generic exception.
    """
    judged = _tiers(lines)
    chosen = _first(judged.filter(pl.col("tier") == pl.col("tier").min().over("session")), lines)
    chosen = _instead(_known(chosen, judged), chosen)
    chosen = _instead(_said_before(chosen.filter(_PART != "stop"), lines), chosen)
    return placed(lines.join(chosen, on="row", how="semi").sort("session"), lines)


def _instead(better: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """The rows of `better` in place of what was chosen of their sessions."""
    return pl.concat([better, chosen.join(better, on="session", how="anti")]) if better.height else chosen


def _known(chosen: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """For a generic exception, prefer the first specific fault in its chain; for a library's error, the device fault
    that its message names.
    """
    near = judged.filter(~pl.col("general"), _LABEL.is_not_null())
    if not near.height:
        return near
    vague = chosen.filter(pl.col("general") | says("library_echo"))
    vague = vague.select("session", "file", at="line", of=pl.when("general").then("block"), by="rank")
    goes_on = _LINE.is_between(pl.col("at"), pl.col("at") + MESSAGE) & (_PART == "root")
    own = (pl.col("block") == pl.col("of")) | (goes_on & pl.col("rank").eq_missing(pl.col("by")))
    near = near.join(vague, on=["session", "file"]).filter(own.fill_null(value=False)).sort("line")
    return near.unique("session", keep="first").select(chosen.columns)


def _said_before(chosen: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The line that first said the same words (digits aside), where training had gone on after it."""
    outlived = chosen.join(lines.filter(~pl.col("alive")), on=["session", "file", "pattern"], how="semi")
    if not outlived.height:
        return outlived
    words = pl.col("text").str.replace_all(r"\d+", "")
    asked = outlived.select("session", "file", "pattern", "tier", "general", by="rank", words=words)
    same = (words == pl.col("words")) & pl.col("rank").eq_missing(pl.col("by"))
    earlier = lines.filter(~pl.col("alive")).join(asked, on=["session", "file", "pattern"]).filter(same)
    return earlier.sort("line").unique("session", keep="first").select(chosen.columns)


def _first(best: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Of the strongest candidates of a session the first: by time where every one has it; else the launcher knows, then
    the place in the file, but places in several files say nothing: known faults go before general ones.
    """
    table = first_failures(lines).select("session", of_table="rank")
    best = best.join(table, on="session", how="left", maintain_order="left")
    timed = pl.col("clock").is_not_null().all().over("session")
    apart = ~timed & (pl.col("file").n_unique().over("session") > 1)
    # a line without a rank may be of any; which of those that waited was ended first says nothing
    other = (pl.col("rank") != pl.col("of_table")).fill_null(value=False) & (_PART != "peer")
    order = (
        pl.when(timed).then("clock"),
        pl.when(~timed).then(other),
        *(pl.when(apart).then(name) for name in ("general", "clock", "file")),
        _LINE,
        pl.col("file"),
    )
    first = best.sort(*order, nulls_last=True).unique("session", keep="first").drop("of_table")
    tabled = first.filter(pl.col("tier") == tier("launcher_table")).select(
        "session", "file", "label", "tier", "general"
    )
    if not tabled.height:
        return first
    # the launcher had said it before it printed its table
    said = lines.filter(_PART == "confirm").join(tabled, on=["session", "file", "label"]).sort("line")
    return _instead(said.unique("session", keep="first").select(first.columns), first)


def _tiers(lines: pl.DataFrame) -> pl.DataFrame:
    """The candidates with tier (0 the strongest) and general (an exception no specific pattern knows)."""
    alive, in_traceback = pl.col("alive"), pl.col("block").is_not_null()
    failed = ((_PART == "confirm") & alive).any().over("session")
    # who was ended by a signal had something to do: no command that is not there
    signalled = ((_PART == "confirm") & alive & _LABEL.is_in(["other", "host_oom", "segfault"])).any().over("session")
    # What fails when the work is done is no cause, unless the program failed with it.
    gone = pl.col("over") & ((_PART == "aside") | (_PART.is_in(["peer", "cascade"]) & ~failed))
    # A shell goes on behind a line that it cannot run; only a failed exit says that this was the work.
    worked = pl.col("logged") | (pl.col("behind") >= blame_limit("script_goes_on"))
    gone |= says("shell_line") & (worked & ~failed | signalled)
    lines = lines.with_columns(alive=alive & ~gone, failed=failed)
    # what srun kills when it ends the step is no first failure
    ended = says("task_killed") & (_LINE.filter(says("task_failed")).min().over(_LOG) < _LINE)
    told = _TOLD & alive & ~ended.fill_null(value=False)
    # A cancel after a failed exit is the scheduler (or `srun -K`) ending what is left of the job.
    left_over = says("cancelled") & (_LINE.filter(told).min().over(_LOG) < _LINE).fill_null(value=False)
    # Output may be flushed after the traceback: where an exit failed, later metrics do not prove survival.
    last_fault = _OWN & in_traceback & (_LINE.filter(_OWN & in_traceback).max().over("session") == _LINE)
    tabled = (_LINE.filter(says("failure_table")).min().over("session") < _LINE).fill_null(value=False)
    cut = says("traceback") & (_LINE.filter(in_traceback).max().over("session").fill_null(0) < _LINE)
    # what ended a traceback is a failure, even where its words only point at another
    pointing = in_traceback & _PART.is_in(["cascade", "symptom"])
    led_to = pl.col("row").is_in(explained(lines.filter(alive & ~left_over)).implode())
    # an exception that is named without a traceback was mostly caught: another with one below it ended the program
    raised, ended = pl.col("captures").str.json_path_match("$.exception"), _OWN & alive & in_traceback
    again = (ended & raised.is_not_null()).any().over("session", raised)
    caught = (_LABEL == "code_exception") & ~in_traceback & ~again
    caught &= (_LINE.filter(ended).max().over(_LOG) > _LINE).fill_null(value=False)
    tiers = (
        (_OWN & alive & ~left_over & ~caught, "own_fault"),
        ((_PART == "peer") & alive & ~led_to, "own_fault"),
        (last_fault & (pl.col("later") <= blame_limit("flushed")) & pl.col("failed"), "flushed_fault"),
        (_OWN & alive & ~left_over, "flushed_fault"),
        ((_PART == "aside") & alive, "aside"),
        (told & tabled, "launcher_table"),
        (told, "failed_exit"),
        (alive & (left_over | _PART.is_in(["peer", "cascade"]) & _LABEL.is_not_null()), "consequence"),
        ((_PART == "confirm") & alive, "bare_exit"),
        ((cut | pointing) & alive, "cut_traceback"),
        (says("terminated") & alive & ~pl.col("over"), "terminated"),
    )
    strongest = pl.coalesce(pl.when(holds).then(pl.lit(tier(name))) for holds, name in tiers)
    # a file that is not there is often looked for elsewhere, and what then fails is the cause
    general = (_LABEL == "code_exception").fill_null(value=False) | says("often_handled")
    return lines.with_columns(tier=strongest, general=general).drop_nulls("tier").drop("failed")
