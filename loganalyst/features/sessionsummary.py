"""The sessions of a run, each with its status and its root-cause line."""

import polars as pl

from loganalyst.features.context import Context
from loganalyst.model import SessionSummary

__all__ = ["sessions"]

ROOT_FIELDS = ("label", "file", "line", "rank", "node", "pattern")  # of the root-cause line
MAX_MESSAGE = 200  # characters


def sessions(context: Context) -> tuple[SessionSummary, ...]:
    """One summary of each session, in their order."""
    rows = context.run.sessions.group_by("session").agg(
        pl.col("first_line").min(), pl.col("last_line").max(), pl.col("status", "job").drop_nulls().last()
    ).sort("session")  # fmt: skip
    steps = _last_steps(context) if rows.height > 1 else {}
    return tuple(
        SessionSummary(
            index=row["session"],
            first_line=row["first_line"],
            last_line=row["last_line"],
            status=row["status"] or "unknown",
            job=row["job"],
            **{name: (context.roots.get(row["session"]) or {}).get(name) for name in ROOT_FIELDS},
            message=((context.roots.get(row["session"]) or {}).get("text") or "")[:MAX_MESSAGE].strip() or None,
            last_step=steps.get(row["session"]),
        )
        for row in rows.to_dicts()
    )


def _last_steps(context: Context) -> dict[int, int | None]:
    points = context.run.points.lazy().group_by("session").agg(pl.col("step").max())
    return dict(points.collect().iter_rows())
