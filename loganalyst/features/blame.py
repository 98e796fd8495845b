"""Order of blame: which line of a session states its root cause."""

from typing import Any

import polars as pl

from loganalyst.model import Run

SURVIVED = 2  # later lines with metrics that show training went on


def session_labels(run: Run) -> dict[int, str | None]:
    """The common label of each session's root cause by its text logs (None: no fault found)."""
    numbers = pl.concat([run.sessions["session"], run.lines["session"]]).drop_nulls().unique().sort()
    found = {n: root(run.lines.filter(session=n), run.points.filter(session=n)) for n in numbers}
    return {n: (row["label"] or "other") if row else None for n, row in found.items()}


def root(lines: pl.DataFrame, points: pl.DataFrame) -> dict[str, Any] | None:
    """The row of `lines` that states the root cause of one session, or None.

    The earliest fault or stop that no later metric of the same file survived; a line that follows from a fault only
    where there is no such line, and then the failed exit before the mere consequence. Within a chain of exceptions a
    known fault goes before a general exception.
    """
    judged = _tiers(alive(lines, points))
    if not judged.height:
        return None
    files = judged["file"].n_unique()
    order = ["tier", "line"] if files == 1 else ["tier", "general", "time", "file", "line"]
    chosen = judged.sort(order, nulls_last=True).row(0, named=True)
    if chosen["general"] and chosen["block"] is not None:
        known = judged.filter(~pl.col("general"), file=chosen["file"], block=chosen["block"]).sort("line")
        chosen = known.row(0, named=True) if known.height else chosen
    return chosen


def alive(lines: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """The lines with alive (Boolean): training did not go on after them, that is, fewer than SURVIVED later lines of
    their file hold a metric (one may be the dump of what went wrong). A stop by the scheduler always is.
    """
    logged = points.drop_nulls("line").select(file="source", line="line").unique().sort("line", descending=True)
    progress = logged.group_by("file", maintain_order=True).agg(
        progress=pl.col("line").get(SURVIVED - 1, null_on_oob=True)
    )
    placed = lines.join(progress, on="file", how="left", maintain_order="left")
    later = (pl.col("progress") > pl.col("line")).fill_null(value=False)
    return placed.with_columns(alive=~later | (pl.col("part") == "stop"))


def _tiers(lines: pl.DataFrame) -> pl.DataFrame:
    """The candidates with tier (0 the strongest) and general (an exception no specific pattern knows)."""
    part, alive, label, line = pl.col("part"), pl.col("alive"), pl.col("label"), pl.col("line")
    pattern, in_traceback = pl.col("pattern"), pl.col("block").is_not_null()
    fault = part.is_in(["root", "stop"])
    told = (part == "confirm") & alive & label.is_not_null()
    # A cancel after a failed exit is the scheduler (or `srun -K`) ending what is left of the job.
    left_over = (pattern == "slurm-cancelled") & (line > line.filter(told).min().over("file")).fill_null(value=False)
    # Output may be flushed after the traceback: where an exit failed, later metrics do not prove survival.
    died = ((part == "confirm") & alive).any()
    last_fault = fault & in_traceback & (line == line.filter(fault & in_traceback).max())
    tabled = line > line.filter(pattern == "first-failure-table").min()
    cut = (pattern == "traceback") & (line > line.filter(in_traceback).max().fill_null(0))
    tiers = (
        (fault & alive & ~left_over, 0),
        (died & last_fault, 1),
        (told & tabled.fill_null(value=False), 2),
        (told, 3),
        (alive & (left_over | (part == "cascade") & label.is_not_null()), 4),
        ((part == "confirm") & alive, 5),
        (cut & alive, 6),
    )
    tier = pl.coalesce(pl.when(holds).then(pl.lit(number)) for holds, number in tiers)
    general = (label == "code_exception").fill_null(value=False)
    return lines.with_columns(tier=tier, general=general).drop_nulls("tier")
