"""Runs that failed alike: the same cause, and for errors in a text the same message but for its numbers and paths."""

import polars as pl

# fmt: off
COLUMNS = pl.Schema({
    "label": pl.String(), "cause": pl.String(), "issue": pl.String(), "severity": pl.String(),
    "like": pl.String(),  # the message they share; NULL where the cause is not an error in a text
    "runs": pl.Int64(), "confidence": pl.Float64(),  # the mean
    "node": pl.String(), "on_node": pl.Int64(),  # the node most of them name, and how many do
    "settings": pl.List(pl.String()),  # `key = value` that they share and most other runs have not
    "example": pl.String(), "members": pl.List(pl.String()),  # the surest one's path; the ids of all
})
# fmt: on
VARIABLE = (  # what differs from run to run in a message that is the same; order counts
    (r"0[xX][0-9a-fA-F]+", "#"),
    (r"(?:[A-Za-z]:)?(?:[/\\][\w.@+=-]+){2,}", "PATH"),
    (r"\d+(?:[.,:]\d+)*(?:[eE][+-]?\d+)?", "#"),
)
SHARED, ELSEWHERE = 0.9, 0.5  # a setting tells a group apart: of its runs at least, of all others at most
SETTINGS = 3
ALIKE = 3  # runs from which on a setting they share says something
MEMBERS = ("label", "cause", "like")


def groups(runs: pl.DataFrame, config: pl.LazyFrame) -> pl.DataFrame:
    """The groups among `runs` (an audit's listing), the largest first; `config` has the runs' settings."""
    failed = runs.filter(pl.col("cause").is_not_null()).with_columns(like=_like())
    nodes = (
        failed.drop_nulls("node").group_by(*MEMBERS, "node").agg(on_node=pl.len().cast(pl.Int64))
        .sort("on_node", "node", descending=[True, False]).unique(MEMBERS, keep="first", maintain_order=True)
    )  # fmt: skip
    found = failed.sort("confidence", descending=True).group_by(MEMBERS, maintain_order=True).agg(
        pl.col("issue", "severity").first(), runs=pl.len().cast(pl.Int64), confidence=pl.col("confidence").mean(),
        example=pl.col("path").first(), members=pl.col("run_id"),
    )  # fmt: skip
    found = found.join(nodes, on=MEMBERS, how="left", nulls_equal=True)
    settings = pl.Series("settings", _settings(found["members"], config, runs.height), pl.List(pl.String))
    found = found.with_columns(settings).select(COLUMNS.names())
    return found.sort("runs", "confidence", "cause", descending=[True, True, False])


def _like() -> pl.Expr:
    """The message without what differs from run to run; only where the cause was found in a text."""
    told = pl.col("says")
    for pattern, place in VARIABLE:
        told = told.str.replace_all(pattern, place)
    return pl.when(pl.col("line").is_not_null()).then(told)


def _settings(members: pl.Series, config: pl.LazyFrame, runs: int) -> list[list[str]]:
    """For each group the settings that its runs share and most others have not."""
    every = config.select("run_id", "key", "value").unique().collect()
    group = pl.DataFrame({"group": range(len(members)), "run_id": members}).explode("run_id")
    sizes = group.group_by("group").agg(size=pl.len())
    everywhere = every.group_by("key", "value").agg(all=pl.len())
    held = every.join(group, on="run_id").group_by("group", "key", "value").agg(here=pl.len())
    share = pl.col("here") / pl.col("size")
    others = (pl.col("all") - pl.col("here")) / (runs - pl.col("size"))
    told = (
        held.join(sizes, on="group").join(everywhere, on=["key", "value"])
        .filter(pl.col("size") >= ALIKE, pl.col("size") < runs, share >= SHARED, others <= ELSEWHERE)
        .sort(others, "key").group_by("group", maintain_order=True)
        .agg(pl.format("{} = {}", "key", "value").head(SETTINGS).alias("settings"))
    )  # fmt: skip
    by_group = dict(told.iter_rows())
    return [by_group.get(i, []) for i in range(len(members))]
