"""Settings, nodes, hosts and versions that distinguish failed runs from healthy ones, each with a significance test."""

import numpy as np
import polars as pl

# fmt: off
COLUMNS = pl.Schema({
    "key": pl.String(), "value": pl.String(),  # a setting's dotted key, `node` or `host`; value `> 0.01` for numbers
    "runs": pl.Int64(), "failed": pl.Int64(),  # with this value
    "other_runs": pl.Int64(), "other_failed": pl.Int64(),  # with another
    "odds_ratio": pl.Float64(),  # of failing; with a half added to each count (Haldane 1940)
    "q": pl.Float64(),  # false discovery rate over all contrasts that were tested
    "also": pl.List(pl.String()),  # other keys that split the runs in the same way
})
# fmt: on
MAX_FALSE_DISCOVERY_RATE = 0.05  # of the reported contrasts, at most this share is chance
MIN_RUNS_PER_SIDE = 2
MAX_VALUES = 50  # a key with more distinct values identifies a run
CUTS = 8  # thresholds that are tried for a numeric key
MAX_OTHER_KEYS = 5
LISTED_KEYS = ("node", "host", "framework")  # columns of the listing that are tested like settings


def contrasts(runs: pl.DataFrame, config: pl.LazyFrame, rate: float = MAX_FALSE_DISCOVERY_RATE) -> pl.DataFrame:
    """Contrasts between failed and healthy runs of `runs` (an audit's listing), the most significant first.

    Each key and value gets Fisher's exact test (two-sided). A numeric key is tested at the best of CUTS thresholds,
    and its p-value is multiplied by CUTS. `rate` bounds the false discovery rate (Benjamini and Hochberg 1995).
    """
    judged = runs.filter(pl.col("status").is_in(["diagnosis_complete", "healthy"]))
    judged = judged.select("run_id", *LISTED_KEYS, bad=pl.col("status") == "diagnosis_complete")
    n, n_bad = judged.height, int(judged["bad"].sum())
    if not 0 < n_bad < n:
        return pl.DataFrame(schema=COLUMNS)
    settings = config.select("run_id", "key", "value", "number").collect().unique(["run_id", "key"], keep="last")
    listed = judged.unpivot(LISTED_KEYS, index="run_id", variable_name="key", value_name="value").drop_nulls("value")
    every = pl.concat([settings, listed.with_columns(number=pl.lit(None, pl.Float64))]).join(
        judged.select("run_id", "bad"), on="run_id"
    )
    sides = pl.concat([_values(every), _cuts(every)])
    sides = sides.filter(pl.col("runs") >= MIN_RUNS_PER_SIDE, n - pl.col("runs") >= MIN_RUNS_PER_SIDE)
    tested = sides.with_columns(
        other_runs=n - pl.col("runs"), other_failed=n_bad - pl.col("failed"), p=fisher(sides, n, n_bad)
    ).with_columns(p=(pl.col("p") * pl.col("tries")).clip(upper_bound=1.0))
    best = tested.sort("p", "key", "value").unique("key", keep="first", maintain_order=True)
    return _significant(best.with_columns(q=adjusted(best["p"])), rate)


def _values(every: pl.DataFrame) -> pl.DataFrame:
    """One side per value of each key; equal `members` mean the same runs."""
    few = pl.col("value").n_unique().over("key").is_between(2, MAX_VALUES)
    return every.filter(few).group_by("key", "value").agg(**_side(), tries=pl.lit(1))


def _side() -> dict[str, pl.Expr]:
    return {
        "runs": pl.len().cast(pl.Int64),
        "failed": pl.col("bad").sum().cast(pl.Int64),
        "members": pl.col("run_id").hash().sum(),
    }


def _cuts(every: pl.DataFrame) -> pl.DataFrame:
    """One side above each threshold of each numeric key."""
    numbers = every.drop_nulls("number").filter(
        pl.col("number").is_finite(), pl.col("number").n_unique().over("key") > 2
    )
    share = (pl.col("number").rank("max").over("key") / pl.len().over("key") * (CUTS + 1)).floor()
    cuts = numbers.with_columns(part=share).group_by("key", "part").agg(cut=pl.col("number").max())
    above = numbers.join(cuts, on="key").filter(pl.col("number") > pl.col("cut"))
    sides = above.group_by("key", "cut").agg(**_side(), tries=pl.lit(CUTS))
    value = pl.format("> {}", pl.col("cut").round_sig_figs(4))
    return sides.select("key", value.alias("value"), "runs", "failed", "members", "tries")


def fisher(sides: pl.DataFrame, n: int, n_bad: int) -> pl.Series:
    """Two-sided p-value of each side (`failed` of `runs` among `n_bad` of `n`): twice the smaller tail, at most 1."""
    from scipy.stats import hypergeom

    runs, failed = sides["runs"].to_numpy(), sides["failed"].to_numpy()
    more, fewer = hypergeom.sf(failed - 1, n, n_bad, runs), hypergeom.cdf(failed, n, n_bad, runs)
    return pl.Series("p", np.minimum(1.0, 2 * np.minimum(more, fewer)), pl.Float64)


def odds_ratio(runs: str) -> pl.Expr:
    """Odds ratio of failing, with a half added to each count (Haldane 1940); `runs` names the column of totals."""
    a, c = pl.col("failed") + 0.5, pl.col("other_failed") + 0.5
    return (a / (pl.col(runs) + 1 - a)) / (c / (pl.col(f"other_{runs}") + 1 - c))


def adjusted(p: pl.Series) -> pl.Series:
    """False discovery rates (q-values) of the p-values `p` (Benjamini and Hochberg 1995)."""
    order = np.argsort(p.to_numpy(), kind="stable")
    scaled = p.to_numpy()[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return pl.Series("q", q)


def _significant(tested: pl.DataFrame, rate: float) -> pl.DataFrame:
    """The significant contrasts; keys that split the runs in the same way share one row."""
    sure = tested.filter(pl.col("q") <= rate).with_columns(odds_ratio=odds_ratio("runs"))
    found = sure.sort("q", "key").group_by("members", maintain_order=True).agg(
        pl.exclude("also").first(), also=pl.col("key").slice(1, MAX_OTHER_KEYS)
    )  # fmt: skip
    return found.select(COLUMNS.names()).cast(COLUMNS)
