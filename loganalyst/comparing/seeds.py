"""The effect of the seed alone, and whether one group of settings is better than another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.comparing.comparisonresult import SeedGroup, Seeds, Versus

Floats = NDArray[np.float64]

LEVEL = 0.05  # family-wise error over all pairs of groups
POWER_Z = 1.959964 + 0.841621  # normal quantiles: two-sided 5 %, power 80 %
MAX_COMPARED = 8  # groups that the best one is compared with
MAX_SEEDS = 1000
MIN_GROUPS_FOR_SHRINKAGE = 4  # with fewer groups, variances are not shrunk towards each other


def seeds(
    groups: pl.Series, ids: Sequence[str], values: Floats, settings: Sequence[Mapping[str, str]], sign: float
) -> Seeds:
    """Groups of runs that are equal except for the seed, and comparisons between them. `groups` is equal for equal
    settings (NULL: not logged), `values` has the objective (`sign` -1: higher is better), `settings` those that vary.
    """
    rows = pl.DataFrame({"group": groups, "value": values, "row": np.arange(len(ids))}).drop_nulls()
    found = (
        rows.group_by("group").agg("row", n=pl.len(), mean=pl.col("value").mean(), variance=pl.col("value").var())
        .filter(pl.col("n") > 1).sort(sign * pl.col("mean"), pl.col("row").list.first())
    )  # fmt: skip
    if not found.height:
        return Seeds(why_not="no two runs are equal except for the seed: the effect of the seed is not known")
    n, mean, variance = (found[c].to_numpy().astype(float) for c in ("n", "mean", "variance"))
    pooled = float(np.sum((n - 1) * variance) / np.sum(n - 1))
    named = tuple(
        SeedGroup(
            f"g{i + 1}", settings[row["row"][0]], tuple(ids[r] for r in row["row"]), row["mean"], row["variance"] ** 0.5
        )
        for i, row in enumerate(found.iter_rows(named=True))
    )
    moderated, df = shrunk(variance, n - 1)
    versus = tuple(
        compared((named[0].id, named[k].id), sign * (mean[k] - mean[0]), Spread(moderated, n, df).at(0, k), len(named))
        for k in range(1, min(len(named), MAX_COMPARED + 1))
    )
    return Seeds(pooled**0.5, int(np.sum(n - 1)), named, versus)


def shrunk(variance: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Variances of few values each, shrunk towards a common one: the more, the better they agree. With their degrees of
    freedom (empirical Bayes: Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004).
    """
    from scipy.special import digamma, polygamma

    if variance.size < MIN_GROUPS_FOR_SHRINKAGE or not variance.any():
        return variance, df
    logs = np.log(np.maximum(variance, 1e-12 * variance.max()))
    away = logs - digamma(df / 2) + np.log(df / 2)
    excess = float(away.var(ddof=1) - polygamma(1, df / 2).mean())
    if excess <= 0:  # they differ by no more than chance: one variance for all
        common = float(np.sum(df * variance) / np.sum(df))
        return np.full_like(variance, common), np.full_like(df, df.sum())
    prior_df = 2 * _trigamma_inverse(excess)
    prior = float(np.exp(away.mean() + digamma(prior_df / 2) - np.log(prior_df / 2)))
    return (prior_df * prior + df * variance) / (prior_df + df), df + prior_df


def _trigamma_inverse(x: float) -> float:
    """The y with trigamma(y) = x, by Newton's method (Smyth 2004)."""
    from scipy.special import polygamma

    if x > 1e7:
        return 1 / float(np.sqrt(x))
    y = 0.5 + 1 / x
    for _ in range(50):
        trigamma = float(polygamma(1, y))
        y += trigamma * (1 - trigamma / x) / float(polygamma(2, y))
    return y


@dataclass(frozen=True)
class Spread:
    """Variance, number of values and degrees of freedom of some groups."""

    variance: Floats
    n: Floats
    df: Floats

    def at(self, *groups: int) -> "Spread":
        """Only the groups at these positions."""
        at = list(groups)
        return Spread(self.variance[at], self.n[at], self.df[at])


def compared(names: tuple[str, str], difference: float, spread: Spread, groups: int) -> Versus:
    """Compare two means with unequal variances (Welch 1947), corrected for all pairs of `groups` means (Bonferroni: the
    studentized range is hardly less strict, and takes one second per pair).
    """
    from scipy.stats import t

    difference, parts = float(difference), spread.variance / spread.n
    error = float(np.sqrt(parts.sum()))
    if error == 0:
        return Versus(*names, difference, difference, difference, float(difference == 0), difference > 0, None)
    free = float(parts.sum() ** 2 / np.sum(parts**2 / spread.df))
    pairs = groups * (groups - 1) / 2
    p = min(2 * float(t.sf(abs(difference) / error, free)) * pairs, 1.0)
    width = float(t.isf(LEVEL / 2 / pairs, free))
    needed = 2 * float(spread.variance.mean()) * (POWER_Z / difference) ** 2 if difference else np.inf
    count = int(np.ceil(needed)) + 1 if needed < MAX_SEEDS else None
    low, high = difference - width * error, difference + width * error
    return Versus(*names, difference, low, high, p, p <= LEVEL, None if p <= LEVEL else count)
