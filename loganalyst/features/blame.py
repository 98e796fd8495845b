"""Order of blame: which line of a session states its root cause."""

from typing import Any

import polars as pl

from loganalyst.features.limits import limit
from loganalyst.features.peers import explained
from loganalyst.features.places import first_failure, place
from loganalyst.features.survival import outlived
from loganalyst.model import Run

MESSAGE = 3  # lines behind an exception that its message may go on for
TABLED = 3  # tier of what torchrun's table says
_TERMINATED = ("slurm-task-terminated", "exit-terminated")  # ended by SIGTERM, and no line says by whom

_PART, _LABEL, _LINE, _PATTERN = pl.col("part"), pl.col("label"), pl.col("line"), pl.col("pattern")
# a bar that stands at its beginning says nothing yet
_WAITS = (_PATTERN == "last-step") & (pl.col("captures").str.json_path_match("$.step") == "0")
_OWN = _PART.is_in(["root", "stop"])
_TOLD = (_PART == "confirm") & _LABEL.is_not_null()


def session_labels(run: Run) -> dict[int, str | None]:
    """The common label of each session's root cause by its text logs (None: no fault found)."""
    return {n: row["label"] if row else None for n, row in session_roots(run).items()}


def session_roots(run: Run) -> dict[int, dict[str, Any] | None]:
    """The row of `lines` that states the root cause of each session (None: no fault found), with the label that is told
    of it, and the rank and node that failed first.
    """
    numbers = pl.concat([run.sessions["session"], run.lines["session"]]).drop_nulls().unique().sort()
    spoken = set(run.lines["session"])  # without a line nothing is told
    return {n: _told(outlived(run, n)) if n in spoken else None for n in numbers}


def _told(lines: pl.DataFrame) -> dict[str, Any] | None:
    row = root(lines)
    if row is None:
        return None
    rank, node = place(row, lines)
    return {**row, "label": row["label"] or "other", "rank": rank, "node": node}


def judged_session(run: Run) -> int:
    """The last session; while it has said nothing yet (a start, and no line that tells anything), the one before."""
    rows = run.sessions.select("session", "first_line", "last_line").vstack(
        run.lines.select("session", first_line="line", last_line="line")
    )
    numbers = rows["session"].drop_nulls().unique().sort(descending=True)
    spoken = pl.concat([run.lines.filter(~_WAITS)["session"], run.points["session"]]).unique()
    long = rows.filter(pl.col("last_line") - pl.col("first_line") >= limit("said_nothing"))["session"]
    said = numbers.filter(numbers.is_in(spoken.implode()) | numbers.is_in(long.implode()))
    return int(said[0] if len(said) else numbers[0]) if len(numbers) else 0


def root(lines: pl.DataFrame) -> dict[str, Any] | None:
    """The row of `lines` (those of one session, as `outlived` gives them) that states its root cause, or None.

    The first fault or stop that no later metric survived. What a rank says of its peers goes behind a rank's own fault;
    a line that follows from a fault counts only where there is no fault, and then the failed exit before the mere
    consequence. Within a chain of exceptions a known fault goes before a general exception.
    """
    judged = _tiers(lines)
    if not judged.height:
        return None
    chosen = _first(judged.filter(pl.col("tier") == pl.col("tier").min()), lines)
    if chosen["general"]:
        goes_on = _LINE.is_between(chosen["line"], chosen["line"] + MESSAGE) & (_PART == "root")
        goes_on &= pl.col("rank").eq_missing(pl.lit(chosen["rank"], pl.Int64))
        own = pl.col("block").eq(pl.lit(chosen["block"], pl.Int64)) | goes_on
        known = judged.filter(~pl.col("general"), own, file=chosen["file"]).sort("line")
        chosen = known.row(0, named=True) if known.height else chosen
    return _first_time(chosen, lines)


def _first_time(chosen: dict[str, Any], lines: pl.DataFrame) -> dict[str, Any]:
    """Where the same words (digits aside) had been said before, and training had gone on, the line that said them first."""
    words = pl.col("text").str.replace_all(r"\d+", "")
    same = (words == pl.lit(chosen["text"]).str.replace_all(r"\d+", "")) & pl.col("rank").eq_missing(
        pl.lit(chosen["rank"])
    )
    earlier = lines.filter(same & ~pl.col("alive"), file=chosen["file"], pattern=chosen["pattern"]).sort("line")
    return earlier.row(0, named=True) if earlier.height and chosen["part"] != "stop" else chosen


def _first(best: pl.DataFrame, lines: pl.DataFrame) -> dict[str, Any]:
    """Of the strongest candidates the first: by time where every one has it; else the launcher knows, then the place in
    the file, but places in several files say nothing: known faults go before general ones.
    """
    first, _ = first_failure(lines) or (None, None)
    best = best.with_columns(other=pl.lit(first is not None) & pl.col("rank").ne_missing(pl.lit(first, pl.Int64)))
    one = best["file"].n_unique() == 1
    untimed = ["other", "line"] if one else ["other", "general", "clock", "file", "line"]
    order = untimed if best["clock"].null_count() else ["clock", "line", "file"]
    row = best.sort(order, nulls_last=True).row(0, named=True)
    if row["tier"] == TABLED:  # the launcher had said it before it printed its table
        earlier = lines.filter(part="confirm", label=row["label"], file=row["file"]).sort("line")
        row = {**row, **earlier.row(0, named=True)}
    return row


def _tiers(lines: pl.DataFrame) -> pl.DataFrame:
    """The candidates with tier (0 the strongest) and general (an exception no specific pattern knows)."""
    alive, in_traceback = pl.col("alive"), pl.col("block").is_not_null()
    failed = lines.select(((_PART == "confirm") & alive).any()).item()
    # What fails when the work is done is no cause, unless the program failed with it.
    gone = pl.col("over") & ((_PART == "aside") | (_PART.is_in(["peer", "cascade"]) & (not failed)))
    # A shell goes on behind a line that it cannot run; only a failed exit says that this was the work.
    worked = pl.col("logged") | (pl.col("behind") >= limit("script_goes_on"))
    gone |= (_PATTERN == "script-line-failed") & worked & (not failed)
    lines = lines.with_columns(alive=alive & ~gone)
    told = _TOLD & alive
    # A cancel after a failed exit is the scheduler (or `srun -K`) ending what is left of the job.
    left_over = (_PATTERN == "slurm-cancelled") & (_LINE.filter(told).min().over("file") < _LINE).fill_null(value=False)
    # Output may be flushed after the traceback: where an exit failed, later metrics do not prove survival.
    last_fault = _OWN & in_traceback & (_LINE.filter(_OWN & in_traceback).max() == _LINE)
    tabled = (_LINE.filter(_PATTERN == "first-failure-table").min() < _LINE).fill_null(value=False)
    cut = (_PATTERN == "traceback") & (_LINE.filter(in_traceback).max().fill_null(0) < _LINE)
    # what ended a traceback is a failure, even where its words only point at another
    pointing = in_traceback & _PART.is_in(["cascade", "symptom"])
    led_to = pl.col("row").is_in(explained(lines.filter(alive & ~left_over)).implode())
    # an exception that is named without a traceback was mostly caught: another with one below it ended the program
    raised, ended = pl.col("captures").str.json_path_match("$.exception"), _OWN & alive & in_traceback
    caught = (_LABEL == "code_exception") & ~in_traceback & ~raised.is_in(raised.filter(ended).implode())
    caught &= (_LINE.filter(ended).max().over("file") > _LINE).fill_null(value=False)
    tiers = (
        (_OWN & alive & ~left_over & ~caught, 0),
        ((_PART == "peer") & alive & ~led_to, 0),
        (last_fault & (pl.col("later") <= limit("flushed")) & failed, 1),
        (_OWN & alive & ~left_over, 1),
        ((_PART == "aside") & alive, 2),
        (told & tabled, TABLED),
        (told, 4),
        (alive & (left_over | _PART.is_in(["peer", "cascade"]) & _LABEL.is_not_null()), 5),
        ((_PART == "confirm") & alive, 6),
        ((cut | pointing) & alive, 7),
        (_PATTERN.is_in(_TERMINATED) & alive & ~pl.col("over"), 8),
    )
    tier = pl.coalesce(pl.when(holds).then(pl.lit(number)) for holds, number in tiers)
    # a file that is not there is often looked for elsewhere, and what then fails is the cause
    general = (_LABEL == "code_exception").fill_null(value=False) | (_PATTERN == "file-not-found")
    return lines.with_columns(tier=tier, general=general).drop_nulls("tier")
