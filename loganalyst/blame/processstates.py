"""The state of each process of a start: when it began, how far it came, how it ended, and whether the run needed it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from loganalyst.blame.linetraits import has_trait
from loganalyst.blame.localranks import without_local_ranks
from loganalyst.model import ProcessState, Run, RunStatus
from loganalyst.thresholds import blame_limit

MAX_PROCESSES = 1024  # processes of a start that are listed
_PART, _LINE, _RANK, _LABEL = pl.col("part"), pl.col("line"), pl.col("rank"), pl.col("label")
_PROCESS = ["name", "rank"]
_SIGNALLED = ("host_oom", "segfault", "shm")  # labels of exits by a signal


def process_states(
    run: Run, lines: pl.DataFrame, session: int, root: Mapping[str, Any] | None
) -> tuple[ProcessState, ...]:
    """The processes of a session, ranks first and in order, among its `lines` from `outlived`.

    Where lines name ranks, each rank is a process, and lines without a rank are the launcher's. Else all lines are the
    program's. `root` is the root-cause line of the session.
    """
    lines = lines.filter(pl.col("session") == session)
    known = _named(without_local_ranks(lines, lines))
    if not known.height:
        return ()
    spans = known.group_by(_PROCESS).agg(
        pl.col("node").drop_nulls().first(), pl.col("file").first(), first_line=_LINE.min(), last_line=_LINE.max(),
        started=pl.col("time").min(), last_seen=pl.col("time").max(),
        last_step=_steps().max(),
    )  # fmt: skip
    ends = _ends(known, root)
    found = spans.join(ends, on=_PROCESS, how="left", nulls_equal=True).sort("rank", "name", nulls_last=True)
    states = [_state(row) for row in found.head(MAX_PROCESSES).iter_rows(named=True)]
    logs = run.sessions.filter(pl.col("session") == session).drop_nulls("source").unique("source").sort("source")
    return _with_own_logs(states, run, logs)


def ended(status: RunStatus, states: Sequence[ProcessState]) -> RunStatus:
    """The status of a run whose log says `status`: of several processes a needed one ended badly: failed.

    A single process that reports its end survived what was printed before.

    >>> ended("finished", [])
    'finished'
    """
    bad = len(states) > 1 and [
        state for state in states if state.needed and state.end in ("failed", "killed", "silent")
    ]
    return "failed" if status == "finished" and bad else status


def _named(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines of processes, with the `name` of each: without those of launchers and schedulers."""
    printer = pl.col("captures").str.json_path_match("$.printer")
    child = pl.when(printer == "child").then(pl.lit("child"))
    rank = pl.format("rank {}", "rank")
    several = lines["rank"].is_not_null().any()
    program = pl.lit(None if several else "program", pl.String)
    return lines.with_columns(name=pl.coalesce(child, rank, program)).drop_nulls("name")


def _steps() -> pl.Expr:
    step = pl.col("captures").str.json_path_match("$.step").cast(pl.Int64, strict=False)
    return step.filter(has_trait("step_printed"))


def _ends(known: pl.DataFrame, root: Mapping[str, Any] | None) -> pl.DataFrame:
    """The line that ended each process: the root cause, else the first fault of its worst kind, else its end mark."""
    alive = pl.col("alive")
    killed = has_trait("killed") | ((_PART == "confirm") & _LABEL.is_in(_SIGNALLED))
    kinds = (
        (alive & (_PART == "root") & ~killed, "failed"),
        (alive & killed, "killed"),
        (alive & (_PART == "stop"), "stopped"),
        (alive & (_PART == "peer"), "lost_peers"),
        (alive & (_PART == "confirm") & ~has_trait("task_killed"), "failed"),  # an exit, behind its reason
        (_PART == "end", "finished"),
        (alive & (_PART.is_in(["cascade", "confirm"])), "ended_by_others"),
    )
    end = pl.coalesce(pl.when(holds).then(pl.lit(i)) for i, (holds, _) in enumerate(kinds))
    names = dict(enumerate(name for _, name in kinds))
    is_root = pl.col("row") == pl.lit(root["row"] if root else None, pl.UInt32)
    worst = known.with_columns(kind=end, is_root=is_root.fill_null(value=False)).drop_nulls("kind")
    worst = worst.sort(~pl.col("is_root"), "kind", "line").unique(_PROCESS, keep="first")
    return worst.select(
        *_PROCESS, end=pl.col("kind").replace_strict(names, return_dtype=pl.String), label="label", end_line="line"
    )


def _state(row: dict[str, Any]) -> ProcessState:
    """The state of one process. A child whose end the program outlived was not needed."""
    return ProcessState(**row, needed=row["name"] != "child" or row["end"] is not None)


def _with_own_logs(states: Sequence[ProcessState], run: Run, logs: pl.DataFrame) -> tuple[ProcessState, ...]:
    """The states, where each process has a log of its own: also those of logs without a known line, and the last steps.

    `logs` are the sessions of all logs. A process is `silent` if it stopped at an earlier step than all others, most of
    which finished.
    """
    own = {state.file: state for state in states}
    alone = len(own) < len(states) or any(state.rank is None for state in states)
    if alone or len(logs) < blame_limit("logs_compared"):
        return tuple(states)
    unknown = [row for row in logs.iter_rows(named=True) if row["source"] not in own]
    steps = _last_steps(run, logs)
    every = [
        state if state.last_step is not None else replace(state, last_step=steps.get(state.file, (None, 0))[0])
        for state in (*states, *(_unknown(row) for row in unknown if row["source"] in steps))
    ]
    done = [s.last_step for s in every if s.end == "finished" and s.last_step is not None]
    margin = blame_limit("intervals_behind") * max((interval for _, interval in steps.values()), default=0)
    silent = min(done, default=0) - margin if 2 * len(done) > len(every) else 0
    stopped = [s.end is None and s.last_step is not None and s.last_step < silent for s in every]
    return tuple(replace(s, end="silent") if early else s for s, early in zip(every, stopped, strict=True))


def _last_steps(run: Run, logs: pl.DataFrame) -> dict[str, tuple[int, float]]:
    """The last step of each log with metrics, and the usual interval of its steps."""
    step = pl.col("step")
    points = run.points.lazy().filter(pl.col("source").is_in(logs["source"].implode()), step.is_not_null())
    points = points.filter(pl.col("session") == logs["session"][0])
    every = (step.max() - step.min()) / (step.n_unique() - 1).clip(1)
    rows = points.group_by("source").agg(step.max(), every=every).collect()
    return {source: (last, interval) for source, last, interval in rows.iter_rows()}


def _unknown(log: Mapping[str, Any]) -> ProcessState:
    """The process of a log without a known line."""
    lines, times = (log["first_line"] or 1, log["last_line"] or 1), (log["started"], log["ended"])
    name = f"log {log['source']}"
    return ProcessState(name, None, None, log["source"], *lines, *times, None, None, None, None, needed=True)
