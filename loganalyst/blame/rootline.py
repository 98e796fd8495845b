"""The line of each session that states its root cause."""

from typing import Any

import polars as pl

from loganalyst.blame.faultplaces import first_failures, placed
from loganalyst.blame.linetraits import has_trait
from loganalyst.blame.peerreports import explained
from loganalyst.blame.survival import DEVICE_ECHOES
from loganalyst.blame.tiers import tier
from loganalyst.model import Run
from loganalyst.patterntraits import GUESSED
from loganalyst.thresholds import blame_limit

MAX_MESSAGE_LINES = 3  # of an exception's message, after its first line
_LOG = ["session", "file"]
_PART, _LABEL, _LINE, _PATTERN = pl.col("part"), pl.col("label"), pl.col("line"), pl.col("pattern")
# a progress bar at 0 shows no work yet, nor does a trainer's greeting
_NOT_STARTED = has_trait("trainer_line") | (
    has_trait("step_printed") & (pl.col("captures").str.json_path_match("$.step") == "0")
)
_OWN = _PART.is_in(["root", "stop"])
_LIMITS = ("slurm_timeout", "slurm_preempted", "node_failure")  # labels of stops that take a working job by surprise
# what the handler of an exception tried instead failed as well
_TRIED_AGAIN = (pl.col("captures").str.json_path_match("$.tried_again") == "true").fill_null(value=False)
_LABELLED_EXIT = (_PART == "confirm") & _LABEL.is_not_null()


def session_roots(run: Run, lines: pl.DataFrame) -> dict[int, dict[str, Any] | None]:
    """The root-cause row of each session, among `lines` from `outlived` (None: no fault found).

    `label` is `other` if the line has none. `rank` and `node` failed first; `teller` is the rank that printed the line.
    """
    numbers = pl.concat([run.sessions["session"], run.lines["session"]]).drop_nulls().unique().sort()
    if lines.is_empty():  # a run without job logs, which some fifty queries would find out slowly
        return dict.fromkeys(numbers)
    label = pl.coalesce("label", pl.lit("other"))
    found = roots(lines).with_columns(label=label, teller="rank", rank="first_rank", node="first_node")
    rows = {row["session"]: row for row in found.iter_rows(named=True)}
    return {n: rows.get(n) for n in numbers}


def judged_session(run: Run) -> int:
    """The last session that shows any work. A start without a meaningful line does not count yet, unless it got farther
    than the one before.
    """
    rows = run.sessions.select("session", "first_line", "last_line").vstack(
        run.lines.select("session", first_line="line", last_line="line")
    )
    numbers = rows["session"].drop_nulls().unique().sort(descending=True)
    spoken = pl.concat([run.lines.filter(~_NOT_STARTED)["session"], run.points["session"].unique()])
    long = rows.filter(pl.col("last_line") - pl.col("first_line") >= blame_limit("said_nothing"))["session"]
    spoken = pl.concat([spoken, long, _farther(run)])
    working = numbers.filter(numbers.is_in(spoken.implode()))
    return int(working[0] if len(working) else numbers[0]) if len(numbers) else 0


def _farther(run: Run) -> pl.Series:
    """The sessions that printed more lines than the session before had printed when it failed."""
    faults = run.lines.filter(_PART.is_in(["root", "stop", "peer", "aside"])).group_by("session", file="file")
    starts = run.sessions.select("session", "first_line", "last_line", file="source")
    failed = starts.join(faults.agg(_LINE.min()), on=_LOG).select(
        "file", session=pl.col("session") + 1, before=_LINE - pl.col("first_line")
    )
    lines = pl.col("last_line") - pl.col("first_line")
    farther = lines >= pl.col("before") + blame_limit("script_goes_on")
    return starts.join(failed, on=_LOG).filter(farther)["session"]


def roots(lines: pl.DataFrame) -> pl.DataFrame:
    """The root-cause row of each session, at most one, among `lines` from `outlived`.

    Rows are in order of session, with the rank and node that failed first. The root cause is the first fault or stop
    of the strongest tier (`rules/tiers.yaml`) that training did not survive. Within a chain of exceptions, a specific
    fault precedes a generic exception.
    """
    judged = _tiers(lines)
    chosen = _first_candidates(judged.filter(pl.col("tier") == pl.col("tier").min().over("session")), lines)
    chosen = _replaced(_specific_faults(chosen, judged), chosen)
    chosen = _replaced(_first_occurrences(chosen.filter(_PART != "stop"), lines), chosen)
    return placed(lines.join(chosen, on="row", how="semi").sort("session"), lines)


def _replaced(better: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """The rows of `better`, and the `chosen` rows of all other sessions."""
    return pl.concat([better, chosen.join(better, on="session", how="anti")]) if better.height else chosen


def _specific_faults(chosen: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """For a generic exception, the first specific fault in its chain; for a library's error, the device fault that it
    names.
    """
    specific = judged.filter(~pl.col("general"), _LABEL.is_not_null())
    if not specific.height:
        return specific
    vague = chosen.filter(pl.col("general") | has_trait("library_echo"))
    vague = vague.select("session", "file", at="line", chain=pl.when("general").then("block"), by="rank")
    goes_on = _LINE.is_between(pl.col("at"), pl.col("at") + MAX_MESSAGE_LINES) & (_PART == "root")
    related = (pl.col("block") == pl.col("chain")) | (goes_on & pl.col("rank").eq_missing(pl.col("by")))
    specific = specific.join(vague, on=["session", "file"]).filter(related.fill_null(value=False)).sort("line")
    return specific.unique("session", keep="first").select(chosen.columns)


def _first_occurrences(chosen: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The first line with the same words (except digits), even if training went on after it."""
    outlived = chosen.join(lines.filter(~pl.col("alive")), on=["session", "file", "pattern"], how="semi")
    if not outlived.height:
        return outlived
    words = pl.col("text").str.replace_all(r"\d+", "")
    asked = outlived.select("session", "file", "pattern", "tier", "general", by="rank", words=words)
    same = (words == pl.col("words")) & pl.col("rank").eq_missing(pl.col("by"))
    earlier = lines.filter(~pl.col("alive")).join(asked, on=["session", "file", "pattern"]).filter(same)
    return earlier.sort("line").unique("session", keep="first").select(chosen.columns)


def _first_candidates(best: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """The first of each session's strongest candidates: by time if all have one, else by launcher and place.

    The rank in the launcher's table precedes the others. Places in different files cannot be compared: specific
    faults then precede generic ones.
    """
    table = first_failures(lines).select("session", of_table="rank")
    best = best.join(table, on="session", how="left", maintain_order="left")
    timed = pl.col("clock").is_not_null().all().over("session")
    several_files = ~timed & (pl.col("file").n_unique().over("session") > 1)
    # a line without a rank may be of any rank; the order in which waiting ranks were ended says nothing
    other = (pl.col("rank") != pl.col("of_table")).fill_null(value=False) & (_PART != "peer")
    order = (
        pl.when(timed).then("clock"),
        pl.when(~timed).then(other),
        *(pl.when(several_files).then(name) for name in ("general", "clock", "file")),
        _LINE,
        pl.col("file"),
    )
    first = best.sort(*order, nulls_last=True).unique("session", keep="first").drop("of_table")
    tabled = first.filter(pl.col("tier") == tier("launcher_table")).select(
        "session", "file", "label", "tier", "general"
    )
    if not tabled.height:
        return first
    # the launcher reported the exit before it printed its table
    reported = lines.filter(_PART == "confirm").join(tabled, on=["session", "file", "label"]).sort("line")
    return _replaced(reported.unique("session", keep="first").select(first.columns), first)


def _outlasted() -> pl.Expr:
    """Whether the only process of a job ended by an exception, and yet the job ran into a limit of the scheduler: an
    earlier start printed the exception. Metrics in another log show that the program worked.
    """
    uncaught = pl.col("captures").str.json_path_match("$.printer") == "interpreter"
    stopped_later = _LINE.filter((_PART == "stop") & _LABEL.is_in(_LIMITS)).max().over(_LOG) > _LINE
    elsewhere = ~pl.col("logged") & pl.col("logged").any().over("session")
    alone = pl.col("rank").is_null().all().over("session")
    return (uncaught & stopped_later & elsewhere & alone & ~pl.col("failed")).fill_null(value=False)


def _tiers(lines: pl.DataFrame) -> pl.DataFrame:
    """The candidates with `tier` (0 is the strongest) and `general` (an exception that no specific pattern knows)."""
    alive, in_traceback = pl.col("alive"), pl.col("block").is_not_null()
    failed = ((_PART == "confirm") & alive).any().over("session")
    # a process that a signal ended was working, so a missing shell command is not its fault
    signalled = ((_PART == "confirm") & alive & _LABEL.is_in(["other", "host_oom", "segfault"])).any().over("session")
    # A failure after the work is done is no cause, unless the program failed as well.
    gone = pl.col("over") & ((_PART == "aside") | (_PART.is_in(["peer", "cascade"]) & ~failed))
    # An epilog shows records of the driver, of any time and program
    exits = ((_PART == "confirm") & alive & ~has_trait("driver_record")).any().over("session")
    gone |= pl.col("over") & has_trait("driver_record") & ~exits
    # A shell goes on after a line that it cannot run; only a failed exit shows that the line was the work.
    worked = pl.col("logged") | (pl.col("behind") >= blame_limit("script_goes_on"))
    gone |= has_trait("shell_line") & (worked & ~failed | signalled)
    lines = lines.with_columns(alive=alive & ~gone, failed=failed)
    # a task that srun kills when it ends the step is no first failure
    ended = has_trait("task_killed") & (_LINE.filter(has_trait("task_failed")).min().over(_LOG) < _LINE)
    labelled_exit = _LABELLED_EXIT & alive & ~ended.fill_null(value=False)
    # After a failed exit the scheduler (or `srun -K`) cancels the rest of the job.
    left_over = has_trait("cancelled") & (_LINE.filter(labelled_exit).min().over(_LOG) < _LINE).fill_null(value=False)
    # Output may be flushed after the traceback: after a failed exit, later metrics do not prove survival.
    last_fault = _OWN & in_traceback & (_LINE.filter(_OWN & in_traceback).max().over("session") == _LINE)
    tabled = (_LINE.filter(has_trait("failure_table")).min().over("session") < _LINE).fill_null(value=False)
    listed = has_trait("failure_table").any().over("session")
    cut = has_trait("traceback") & (_LINE.filter(in_traceback).max().over("session").fill_null(0) < _LINE)
    # the exception of a traceback is a failure, even if its words only point at another one
    pointing = in_traceback & (_PART.is_in(["cascade", "symptom"]) | _TRIED_AGAIN)
    led_to = pl.col("row").is_in(explained(lines.filter(alive & ~left_over)).implode())
    # an exception without a traceback was mostly caught; a later one with a traceback ended the program
    raised, ended = pl.col("captures").str.json_path_match("$.exception"), _OWN & alive & in_traceback
    again = (ended & raised.is_not_null()).any().over("session", raised)
    caught = (_LABEL == "code_exception") & ~in_traceback & ~again
    caught &= (_LINE.filter(ended).max().over(_LOG) > _LINE).fill_null(value=False)
    # last words that no pattern knows: their subject is a guess, and an exit that a wrapper reports is not
    guess = _PATTERN.str.starts_with(GUESSED)
    wrapped = (labelled_exit & ~guess & _LABEL.ne_missing("code_exception")).any().over("session")
    guess &= wrapped
    # the driver's own word about a device goes before the errors of libraries, which only echo it
    named_device = (has_trait("device_word") & _OWN & alive).any().over("session")
    echo = named_device & _LABEL.is_in(DEVICE_ECHOES) & ~has_trait("device_word")
    tiers = (
        (_OWN & alive & ~left_over & ~caught & ~echo & ~pointing & ~_outlasted(), "own_fault"),
        ((_PART == "peer") & alive & ~led_to & ~echo, "own_fault"),
        (last_fault & (pl.col("later") <= blame_limit("flushed")) & pl.col("failed"), "flushed_fault"),
        (_OWN & alive & ~left_over & ~echo & ~pointing, "flushed_fault"),
        ((_PART == "aside") & alive, "aside"),
        (labelled_exit & listed & (_LABEL == "dataloader_worker"), "lost_worker"),
        (labelled_exit & tabled & ~guess, "launcher_table"),
        (labelled_exit & ~guess, "failed_exit"),
        (alive & (left_over | echo | _PART.is_in(["peer", "cascade"]) & _LABEL.is_not_null()), "consequence"),
        (labelled_exit, "guessed_words"),
        ((_PART == "confirm") & alive, "bare_exit"),
        ((cut | pointing) & alive, "cut_traceback"),
        (has_trait("terminated") & alive & ~pl.col("over"), "terminated"),
    )
    strongest = pl.coalesce(pl.when(holds).then(pl.lit(tier(name))) for holds, name in tiers)
    # a missing file is often looked for elsewhere; the failure that follows is then the cause
    general = (_LABEL == "code_exception").fill_null(value=False) | has_trait("often_handled")
    return lines.with_columns(tier=strongest, general=general).drop_nulls("tier").drop("failed")
