"""Exceptions that ended a thread of the program, and not the program itself (last session)."""

import polars as pl

from loganalyst.blame.rootline import judged_session
from loganalyst.features.context import Computed, Context
from loganalyst.features.ranks import NEEDS, line_message, line_place, line_witness
from loganalyst.model import Feature

FEATURES = (
    Feature("log_thread_count", "int", "lines", "exceptions that ended a thread of the program, and not the program", NEEDS),
    Feature("log_thread_message", "text", "", "message of the first of them", NEEDS),
    Feature("log_thread_at", "text", "", "place of the first of them, file:line", NEEDS),
    Feature("log_thread_progress", "int", "lines", "lines with metrics after the first of them", NEEDS),
)  # fmt: skip


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if no job log was read."""
    if not any(source.format == "text" for source in context.run.sources):
        return {}
    lines = context.lines.filter(session=judged_session(context.run))
    of_thread = pl.col("captures").str.json_path_match("$.printer") == "thread"
    threads = lines.filter(of_thread, (pl.col("part") == "advice") | ~pl.col("alive")).sort("row")
    if threads.is_empty():
        return {"log_thread_count": 0}
    first = threads.row(0, named=True)
    return {
        "log_thread_count": threads.height,
        "log_thread_message": (line_message(first["text"]), line_witness(first)),
        "log_thread_at": (line_place(first), line_witness(first)),
        "log_thread_progress": first["later"],
    }
