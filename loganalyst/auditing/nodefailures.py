"""Runs by node: how many failed there, and whether that is significant."""

import polars as pl

from loganalyst.auditing.failurecontrasts import adjusted, fisher, odds_ratio
from loganalyst.auditing.jobaccounts import more_than_chance

# fmt: off
COLUMNS = pl.Schema({
    "node": pl.String(), "runs": pl.Int64(), "failed": pl.Int64(),  # healthy or failed runs; failed runs
    "other_runs": pl.Int64(), "other_failed": pl.Int64(),  # on all other nodes
    "odds_ratio": pl.Float64(), "q": pl.Float64(),  # as in `failurecontrasts`, over all nodes
    "named": pl.Boolean(),  # fails significantly more often, by `rules/accounts.yaml`
})
# fmt: on


def nodes(runs: pl.DataFrame) -> pl.DataFrame:
    """The nodes (or hosts) of `runs` (an audit's listing), the most significant failures first.

    Empty where no run failed, none is healthy, or all ran on one node: then there is nothing to compare.
    """
    judged = runs.filter(pl.col("status").is_in(["diagnosis_complete", "healthy"])).drop_nulls("node")
    n, n_bad = judged.height, judged.filter(status="diagnosis_complete").height
    bad = pl.col("status") == "diagnosis_complete"
    sides = judged.group_by("node").agg(runs=pl.len().cast(pl.Int64), failed=bad.sum().cast(pl.Int64)).sort("node")
    if not 0 < n_bad < n or sides.height < 2:
        return pl.DataFrame(schema=COLUMNS)
    found = sides.with_columns(
        other_runs=n - pl.col("runs"), other_failed=n_bad - pl.col("failed"), q=adjusted(fisher(sides, n, n_bad))
    ).with_columns(odds_ratio=odds_ratio("runs"))
    found = found.with_columns(named=more_than_chance()).select(COLUMNS.names()).cast(COLUMNS)
    return found.sort("named", "q", "failed", "node", descending=[True, False, True, False])
