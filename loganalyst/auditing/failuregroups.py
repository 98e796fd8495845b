"""Group runs that failed alike: the same cause, and the same log message apart from numbers and paths."""

import polars as pl

# fmt: off
COLUMNS = pl.Schema({
    "label": pl.String(), "cause": pl.String(), "issue": pl.String(), "severity": pl.String(),
    "like": pl.String(),  # the message they share; NULL where the cause is not an error in a log
    "runs": pl.Int64(), "confidence": pl.Float64(),  # the mean
    "node": pl.String(), "on_node": pl.Int64(),  # the most common node, and how many runs name it
    "settings": pl.List(pl.String()),  # `key = value` that the group shares and most other runs do not have
    "example": pl.String(), "members": pl.List(pl.String()),  # path of the surest run; ids of all
})
# fmt: on
VARIABLE_TEXT = (  # text that differs between runs with the same message; the order counts
    (r"0[xX][0-9a-fA-F]+", "#"),  # `0x7f3a`
    (r"(?:[A-Za-z]:)?(?:[/\\][\w.@+=-]+){2,}", "PATH"),  # `/data/train/1.pt`, `C:\data\1.pt`
    (r"\d+(?:[.,:]\d+)*(?:[eE][+-]?\d+)?", "#"),  # `12`, `1.5e-3`, `10:32:01`
)
# a setting distinguishes a group if at least this share of its runs, and at most that share of the others, have it
MIN_SHARE_IN_GROUP, MAX_SHARE_ELSEWHERE = 0.9, 0.5
MAX_SETTINGS = 3
MIN_RUNS_FOR_SETTINGS = 3  # a setting that fewer runs share may be chance
MEMBERS = ("label", "cause", "like")


def groups(runs: pl.DataFrame, config: pl.LazyFrame) -> pl.DataFrame:
    """The groups among `runs` (an audit's listing), the largest first; `config` has the runs' settings."""
    failed = runs.filter(pl.col("cause").is_not_null()).with_columns(like=_message())
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


def _message() -> pl.Expr:
    """The message without its variable text; NULL unless the cause was found in a log line."""
    message = pl.col("says")
    for pattern, place in VARIABLE_TEXT:
        message = message.str.replace_all(pattern, place)
    return pl.when(pl.col("line").is_not_null()).then(message)


def _settings(members: pl.Series, config: pl.LazyFrame, runs: int) -> list[list[str]]:
    """For each group, the settings that its runs share and most other runs do not have."""
    every = config.select("run_id", "key", "value").unique().collect()
    group = pl.DataFrame({"group": range(len(members)), "run_id": members}).explode("run_id")
    sizes = group.group_by("group").agg(size=pl.len())
    everywhere = every.group_by("key", "value").agg(all=pl.len())
    held = every.join(group, on="run_id").group_by("group", "key", "value").agg(here=pl.len())
    share = pl.col("here") / pl.col("size")
    others = (pl.col("all") - pl.col("here")) / (runs - pl.col("size"))
    found = (
        held.join(sizes, on="group").join(everywhere, on=["key", "value"])
        .filter(pl.col("size") >= MIN_RUNS_FOR_SETTINGS, pl.col("size") < runs)
        .filter(share >= MIN_SHARE_IN_GROUP, others <= MAX_SHARE_ELSEWHERE)
        .sort(others, "key").group_by("group", maintain_order=True)
        .agg(pl.format("{} = {}", "key", "value").head(MAX_SETTINGS).alias("settings"))
    )  # fmt: skip
    by_group = dict(found.iter_rows())
    return [by_group.get(i, []) for i in range(len(members))]
