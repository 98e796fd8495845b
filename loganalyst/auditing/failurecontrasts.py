"""What failed runs have that healthy ones have not: settings, nodes, hosts, versions, each tested, many at once."""

import numpy as np
import polars as pl

# fmt: off
COLUMNS = pl.Schema({
    "key": pl.String(), "value": pl.String(),  # a setting's dotted key, `node` or `host`; value `> 0.01` for numbers
    "runs": pl.Int64(), "failed": pl.Int64(),  # with this value
    "other_runs": pl.Int64(), "other_failed": pl.Int64(),  # with another
    "odds_ratio": pl.Float64(),  # of failing; with a half added to each count (Haldane 1940)
    "q": pl.Float64(),  # the chance that so strong a contrast is none, among all that were looked at
    "also": pl.List(pl.String()),  # other keys that part the runs in the same way
})
# fmt: on
RATE = 0.05  # of the contrasts told, at most this share is chance (false discovery rate)
LEAST = 2  # runs on either side of a contrast
VALUES = 50  # a key with more values, none of them numbers, names the run rather than tells it from others
CUTS = 8  # places at which a numeric key is cut in two
ALSO = 5
OWN = ("node", "host", "framework")  # columns of the listing that are looked at like settings


def contrasts(runs: pl.DataFrame, config: pl.LazyFrame, rate: float = RATE) -> pl.DataFrame:
    """Contrasts between runs with a cause and healthy ones among `runs` (an audit's listing), the surest first.

    Each key and value is asked by Fisher's exact test (two-sided), a numeric key at the cut that parts the runs best of
    CUTS, for which its chance is multiplied. `rate` bounds the false discovery rate (Benjamini and Hochberg 1995).
    """
    judged = runs.filter(pl.col("status").is_in(["diagnosis_complete", "healthy"]))
    judged = judged.select("run_id", *OWN, bad=pl.col("status") == "diagnosis_complete")
    n, n_bad = judged.height, int(judged["bad"].sum())
    if not 0 < n_bad < n:
        return pl.DataFrame(schema=COLUMNS)
    settings = config.select("run_id", "key", "value", "number").collect().unique(["run_id", "key"], keep="last")
    own = judged.unpivot(OWN, index="run_id", variable_name="key", value_name="value").drop_nulls("value")
    every = pl.concat([settings, own.with_columns(number=pl.lit(None, pl.Float64))]).join(
        judged.select("run_id", "bad"), on="run_id"
    )
    sides = pl.concat([_values(every), _cuts(every)])
    sides = sides.filter(pl.col("runs") >= LEAST, n - pl.col("runs") >= LEAST)
    tested = sides.with_columns(
        other_runs=n - pl.col("runs"), other_failed=n_bad - pl.col("failed"), p=fisher(sides, n, n_bad)
    ).with_columns(p=(pl.col("p") * pl.col("tries")).clip(upper_bound=1.0))
    best = tested.sort("p", "key", "value").unique("key", keep="first", maintain_order=True)
    return _told(best.with_columns(q=adjusted(best["p"])), rate)


def _values(every: pl.DataFrame) -> pl.DataFrame:
    """A side for each value of each key; `members` tells which runs it has."""
    few = pl.col("value").n_unique().over("key").is_between(2, VALUES)
    return every.filter(few).group_by("key", "value").agg(**_side(), tries=pl.lit(1))


def _side() -> dict[str, pl.Expr]:
    return {
        "runs": pl.len().cast(pl.Int64),
        "failed": pl.col("bad").sum().cast(pl.Int64),
        "members": pl.col("run_id").hash().sum(),
    }


def _cuts(every: pl.DataFrame) -> pl.DataFrame:
    """A side above each of some cuts of each key whose values are numbers."""
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
    """Two-sided chance of each side (`failed` of `runs` among `n_bad` of `n`): twice the smaller tail, at most 1."""
    from scipy.stats import hypergeom

    runs, failed = sides["runs"].to_numpy(), sides["failed"].to_numpy()
    more, fewer = hypergeom.sf(failed - 1, n, n_bad, runs), hypergeom.cdf(failed, n, n_bad, runs)
    return pl.Series("p", np.minimum(1.0, 2 * np.minimum(more, fewer)), pl.Float64)


def odds_ratio(runs: str) -> pl.Expr:
    """Of failing, with a half added to each count (Haldane 1940); `runs` names the column of how many there are."""
    a, c = pl.col("failed") + 0.5, pl.col("other_failed") + 0.5
    return (a / (pl.col(runs) + 1 - a)) / (c / (pl.col(f"other_{runs}") + 1 - c))


def adjusted(p: pl.Series) -> pl.Series:
    """The false discovery rate at which each of the chances `p` would still be told (Benjamini and Hochberg 1995)."""
    order = np.argsort(p.to_numpy(), kind="stable")
    scaled = p.to_numpy()[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return pl.Series("q", q)


def _told(tested: pl.DataFrame, rate: float) -> pl.DataFrame:
    """One row for keys that part the runs in the same way."""
    sure = tested.filter(pl.col("q") <= rate).with_columns(odds_ratio=odds_ratio("runs"))
    found = sure.sort("q", "key").group_by("members", maintain_order=True).agg(
        pl.exclude("also").first(), also=pl.col("key").slice(1, ALSO)
    )  # fmt: skip
    return found.select(COLUMNS.names()).cast(COLUMNS)
