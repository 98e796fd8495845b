"""What a rank says of its peers, and whether what befell a peer is known: then the complaint is a consequence."""

import polars as pl

from loganalyst.blame.linetraits import says

_PART, _LABEL, _RANK, _CLOCK = pl.col("part"), pl.col("label"), pl.col("rank"), pl.col("clock")
# Whoever reports these does so when all is over: the line may stand behind what it led to.
_REPORTED_LATE = _LABEL.is_in(["host_oom", "node_failure", "gpu_hardware"])
# No peer's end leads to these. Of lines without a time and a rank the order in the file says little: ranks are flushed.
_NO_CONSEQUENCE = _LABEL.is_in(["cuda_oom", "device_assert"]) & _CLOCK.is_null() & _RANK.is_null()
_KILLED = _LABEL.is_in(["host_oom", "segfault", "shm"]) | pl.col("text").str.contains(r"\bKilled\b")

_PEER = _PART == "peer"
_OWN = (_PART == "root") & _LABEL.ne_missing("user_interrupt")  # a launcher interrupts those that are left
_EXIT = (_PART == "confirm") & _LABEL.is_not_null()
_OF_A_TASK = says("of_task")


def explained(lines: pl.DataFrame) -> pl.Series:
    """The `row` of each complaint (part `peer`) that another line of its session explains.

    Two lines explain it. One is a rank's own fault that came earlier, hit a rank that never complained, is always
    reported late, or follows from no peer's end. The other is the first exit of a task, if a signal ended it or if it
    never complained. `lines` come from `outlived`, without those that training survived.
    """
    lines = lines.filter(_PEER.any().over("session"))
    if not lines.height:
        return lines["row"]
    lines = lines.with_columns(waited=(_PEER & _RANK.is_not_null()).any().over("session", "rank"))
    quiet = _RANK.is_not_null() & ~pl.col("waited") & pl.col("waited").any().over("session")
    as_task = pl.col("waited").not_() | _OF_A_TASK.any().over("session", "rank")
    lines = lines.with_columns(quiet=quiet, tasks_all=as_task.all().over("session"))
    exits = lines.filter(_EXIT).sort("clock", "line", nulls_last=True).unique("session", keep="first")
    ended = exits.filter(_KILLED | (pl.col("quiet") & pl.col("tasks_all")))
    faults = lines.filter(_OWN, pl.col("quiet") | _REPORTED_LATE | _NO_CONSEQUENCE)
    known = pl.col("session").is_in(pl.concat([ended["session"], faults["session"]]).unique().implode())
    by_time = pl.col("clock") >= _CLOCK.filter(_OWN).min().over("session")
    untimed = _behind(_OWN & _CLOCK.is_null())
    behind = pl.when(_CLOCK.is_null()).then(_behind(_OWN)).otherwise(untimed | by_time).fill_null(value=False)
    return lines.filter(_PEER & (known | behind))["row"]


def _behind(fault: pl.Expr) -> pl.Expr:
    """Whether a fault stands before a line in its file, or in another file, whose lines have no order to it."""
    log = ["session", "file"]
    before = (pl.col("line").filter(fault).min().over(log) < pl.col("line")).fill_null(value=False)
    return before | (fault.sum().over("session") > fault.sum().over(log))
