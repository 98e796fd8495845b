"""Complaints of ranks about peers. If the fault of the peer is known, a complaint is a consequence."""

import polars as pl

from loganalyst.blame.linetraits import has_trait

_PART, _LABEL, _RANK, _CLOCK = pl.col("part"), pl.col("label"), pl.col("rank"), pl.col("clock")
# These are reported when the run has ended: the line may follow its own consequences.
_REPORTED_LATE = _LABEL.is_in(["host_oom", "node_failure", "gpu_hardware"])
# A peer's end never causes these. Without time and rank the order in the file says little: each rank has a buffer.
_NO_CONSEQUENCE = _LABEL.is_in(["cuda_oom", "device_assert"]) & _CLOCK.is_null() & _RANK.is_null()
# `srun: error: n1: task 3: Killed`
_KILLED = _LABEL.is_in(["host_oom", "segfault", "shm"]) | pl.col("text").str.contains(r"\bKilled\b")

_PEER = _PART == "peer"
_OWN = (_PART == "root") & _LABEL.ne_missing("user_interrupt")  # a launcher interrupts the remaining ranks
_EXIT = (_PART == "confirm") & _LABEL.is_not_null()
_OF_A_TASK = has_trait("of_task")


def explained(lines: pl.DataFrame) -> pl.Series:
    """The `row` of each complaint (part `peer`) that another line of its session explains.

    Two kinds of lines explain it. The first is a rank's own fault that came earlier, hit a rank that never complained,
    is always reported late, or cannot follow from a peer's end. The second is the first exit of a task that a signal
    ended or that never complained. `lines` come from `outlived`, without lines that training survived.
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
    """Whether a fault precedes a line in its file, or is in another file, whose order to it is not known."""
    log = ["session", "file"]
    before = (pl.col("line").filter(fault).min().over(log) < pl.col("line")).fill_null(value=False)
    return before | (fault.sum().over("session") > fault.sum().over(log))
