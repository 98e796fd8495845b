"""Evidence that speaks for a cause in one source of runs and against it in another, or against its weight.

The log-likelihood ratio of an item says how much more often it holds where its rule is right than where it is wrong,
among the runs in which the rule was considered.
"""

import numpy as np
import polars as pl

from loganalyst.evaluate.ratios import Problem

MIN_SIDE = 5  # right entries, and wrong ones, of an item in a source
Z = 1.64  # standard errors from 0 at which a ratio has a sign
SMALL = 0.5  # is added to each count


def turned(problem: Problem, sources: pl.Series) -> pl.DataFrame:
    """The items whose ratio has a sign in some source that differs from its sign in another source or from its weight.

    One row per item and source in which the ratio has a sign: `rule`, `item`, `source`, `ratio`, `error`, `weight`.
    """
    measured = _ratios(problem, sources).filter((pl.col("ratio") / pl.col("error")).abs() >= Z)
    mixed = pl.col("ratio").sign().n_unique().over("rule", "item") > 1
    against = ((pl.col("weight").sign() * pl.col("ratio").sign()) < 0).any().over("rule", "item")
    return measured.filter(mixed | against).sort("rule", "item", "source")


def _ratios(problem: Problem, sources: pl.Series) -> pl.DataFrame:
    """The ratio of each item in each source, with its standard error and the judged weight of its first answer."""
    entry = np.repeat(problem.entry, np.diff([*problem.starts, problem.weight.size]))
    counts = pl.DataFrame(
        {
            "item": problem.weight // 2,
            "holds": problem.weight % 2 == 0,
            "right": problem.right[entry],
            "source": sources.to_numpy()[problem.run[entry]],
            "known": problem.known[entry],
        }
    ).filter("known").group_by("item", "source").agg(
        true_right=(pl.col("holds") & pl.col("right")).sum(), right=pl.col("right").sum(),
        true_wrong=(pl.col("holds") & ~pl.col("right")).sum(), wrong=(~pl.col("right")).sum(),
    )  # fmt: skip
    a, n, b, m = (pl.col(c) + s for c, s in (("true_right", SMALL), ("right", 1), ("true_wrong", SMALL), ("wrong", 1)))
    names = pl.DataFrame(problem.keys, schema=["rule", "name"], orient="row").with_row_index("item")
    names = names.with_columns(pl.Series("weight", problem.judged[::2]), pl.col("item").cast(pl.Int64))
    return (
        counts.filter(pl.col("right") >= MIN_SIDE, pl.col("wrong") >= MIN_SIDE)
        .with_columns(ratio=(a / n).log() - (b / m).log(), error=(1 / a - 1 / n + 1 / b - 1 / m).sqrt())
        .join(names, on="item")
        .select("rule", pl.col("name").alias("item"), "source", "ratio", "error", "weight")
    )


def text(rows: pl.DataFrame) -> str:
    """One line per item and source."""
    return "".join(
        f"{row['rule']}/{row['item']}  weight {row['weight']:+.1f}  {row['source']} {row['ratio']:+.2f} "
        f"(standard error {row['error']:.2f})\n"
        for row in rows.iter_rows(named=True)
    )
