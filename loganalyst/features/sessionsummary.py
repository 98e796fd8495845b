"""The sessions of a run, each with its status and its root-cause line."""

import polars as pl

from loganalyst.features.context import Context
from loganalyst.model import SessionSummary

__all__ = ["sessions"]

ROOT_FIELDS = ("label", "file", "line", "rank", "node")  # of the root-cause line


def sessions(context: Context) -> tuple[SessionSummary, ...]:
    """One summary of each session, in their order."""
    rows = context.run.sessions.group_by("session").agg(
        pl.col("first_line").min(), pl.col("last_line").max(), pl.col("status", "job").drop_nulls().last()
    ).sort("session")  # fmt: skip
    return tuple(
        SessionSummary(
            index=row["session"],
            first_line=row["first_line"],
            last_line=row["last_line"],
            status=row["status"] or "unknown",
            job=row["job"],
            **{name: (context.roots.get(row["session"]) or {}).get(name) for name in ROOT_FIELDS},
        )
        for row in rows.to_dicts()
    )
