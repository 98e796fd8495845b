"""Points as a run logs them, for tests of curves."""

from collections.abc import Sequence

import polars as pl

from loganalyst.model import Run, Source, table


def points(
    session: int, steps: Sequence[int | None], values: Sequence[float], metric: str = "loss", source: str = "a"
) -> pl.DataFrame:
    return table(
        "points", {"session": session, "metric": metric, "step": list(steps), "value": list(values), "source": source}
    )


def run_of(frame: pl.DataFrame) -> Run:
    return Run(points=frame, sources=(Source("a", "csv", 1),))
