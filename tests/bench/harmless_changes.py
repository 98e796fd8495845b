"""Whether an answer survives changes that harm no run: `RUN … [--changed] [--points 60000]`.

Each run is written as JSON lines (metrics only, its last session), judged, changed and judged again. The changes are:
half of the points, three significant digits, the last 30 % of the steps cut away. Printed for each change: the runs
whose first answer stays, those that become unknown, and those that get another answer. `--changed` lists the latter.
A run that ends earlier may truly deserve another answer; half of the points and rounding should change very little.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst import pipeline
from loganalyst.errors import LogAnalystError

KEPT = 0.7  # of the steps, for a run that ends early
FEW = 12  # points of a metric that are never thinned
DIGITS = 3
UNDECIDED = ("cause_unknown", "insufficient_data")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--changed", action="store_true", help="list the runs that get another answer")
    parser.add_argument("--points", type=int, default=60_000, help="larger runs are left out (default: 60,000)")
    asked = parser.parse_args()
    counts = {name: Counter[str]() for name in CHANGES}
    for path in asked.runs:
        for name, before, after in _answers(path, asked.points):
            outcome = "kept" if before == after else "unknown" if {before, after} & set(UNDECIDED) else "other"
            counts[name][outcome] += 1
            if asked.changed and before != after:
                print(f"{path}  {name}: {before} -> {after}")
    for name, outcomes in counts.items():
        runs = sum(outcomes.values())
        print(
            f"{name:8} {runs:5} runs  kept {outcomes['kept']:5} ({outcomes['kept'] / max(1, runs):.1%})  "
            f"to or from unknown {outcomes['unknown']:4}  another answer {outcomes['other']:4}"
        )


def _answers(path: Path, most: int) -> Iterator[tuple[str, str, str]]:
    """The name of each change, the first answer before it and the one after it. None for a run that is not read."""
    try:
        points = pipeline.read_run(path).points
    except LogAnalystError:
        return
    points = points.filter(pl.col("session") == pl.col("session").max())
    if not FEW <= points.height <= most:
        return
    before = _answer(points)
    for name, change in CHANGES.items():
        yield name, before, _answer(change(points))


def _answer(points: pl.DataFrame) -> str:
    """The id of the first cause, or the status, of a run that logged these points as JSON lines."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        run.mkdir()
        (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _rows(points)), "utf-8")
        found = pipeline.diagnose_paths([run])[-1]
    return found.causes[0].id if found.causes else found.status


def _rows(points: pl.DataFrame) -> Iterator[Mapping[str, Any]]:
    """One row a step with all its metrics, as trainers write them. Points without a step are numbered."""
    number = pl.int_range(pl.len()).over("metric").cast(pl.Int64)
    table = points.with_columns(pl.col("step").fill_null(number)).group_by("step", maintain_order=True)
    rows = table.agg("metric", "value", pl.col("epoch").drop_nulls().first()).sort("step")
    for row in rows.iter_rows(named=True):
        place = {"step": row["step"]} | ({"epoch": row["epoch"]} if row["epoch"] is not None else {})
        yield place | dict(zip(row["metric"], row["value"], strict=True))


def half_of_the_points(points: pl.DataFrame) -> pl.DataFrame:
    """Every second point of each metric, and its last one."""
    place, length = pl.int_range(pl.len()).over("metric"), pl.len().over("metric")
    return points.filter((place % 2 == 0) | (place == length - 1) | (length < FEW))


def rounded(points: pl.DataFrame) -> pl.DataFrame:
    """Values with three significant digits, as a log prints them."""
    return points.with_columns(pl.col("value").round_sig_figs(DIGITS))


def ended_early(points: pl.DataFrame) -> pl.DataFrame:
    """The first 70 % of the steps. A run without steps stays whole."""
    step = pl.col("step")
    return points.filter((step <= step.min() + KEPT * (step.max() - step.min())) | step.is_null())


CHANGES: Mapping[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "half": half_of_the_points,
    "rounded": rounded,
    "early": ended_early,
}

if __name__ == "__main__":
    main()
