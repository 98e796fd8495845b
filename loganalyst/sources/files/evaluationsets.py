"""Names for metrics of several evaluation sets that a trainer logs under one name.

Hugging Face's Trainer puts the name of the set before its own metrics (`eval_news_loss`, `eval_news_runtime`). TRL's
trainers log theirs without it: `eval_rewards/margins` comes once for each set, in the order of the sets.
"""

import polars as pl

# `eval_news_runtime`, `eval/news_runtime`: what Trainer logs for each named set
_RUNTIME = r"^((?:.*/)?eval[_/])(.+)_runtime$"
_AT = ("session", "source", "step")


def named(points: pl.DataFrame) -> pl.DataFrame:
    """The points, where metrics that come once for each evaluation set have its name.

    A metric keeps its name if it is not logged as often as the sets at each of its steps.
    """
    names = points["metric"].unique()
    sets = pl.DataFrame({"metric": names.filter(names.str.contains("_runtime", literal=True))}).select(
        "metric", head=pl.col("metric").str.extract(_RUNTIME, 1), set=pl.col("metric").str.extract(_RUNTIME, 2)
    )
    sets = sets.drop_nulls().filter(pl.len().over("head") > 1)
    for (head,), of_head in sets.group_by("head"):
        points = _with_sets(points, str(head), of_head, names)
    return points


def _with_sets(points: pl.DataFrame, head: str, sets: pl.DataFrame, names: pl.Series) -> pl.DataFrame:
    """The points with the names of these sets in the metrics that begin with `head` and name none."""
    own = tuple(f"{head}{name}_" for name in sets["set"])
    shared = [name for name in names.to_list() if name.startswith(head) and not name.startswith(own)]
    rows = points.select("metric", *_AT, row=pl.int_range(pl.len(), dtype=pl.UInt32))
    turns = rows.join(sets.select("metric", "set"), on="metric").sort("row")
    turns = turns.select(*_AT, "set", turn=pl.int_range(pl.len()).over(_AT), turns=pl.len().over(_AT))
    found = rows.filter(pl.col("metric").is_in(shared))
    found = found.with_columns(turn=pl.int_range(pl.len()).over("metric", *_AT), times=pl.len().over("metric", *_AT))
    found = found.join(turns, on=[*_AT, "turn"], how="left", nulls_equal=True)
    found = found.filter((pl.col("times") == pl.col("turns")).fill_null(value=False).all().over("metric")).sort("row")
    rest = found["metric"].str.strip_prefix(head)
    return points.with_columns(points["metric"].scatter(found["row"], head + found["set"] + "_" + rest))
