"""Features from profiles of the program (`py-spy record`): where it spent its time."""

import polars as pl

from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, Witness
from loganalyst.stackdoings import doings

NEEDS = "a profile of the running program (py-spy record -d 60 -f raw -o profile.raw --pid PID)"
FEATURES = (
    Feature("profile_sample_count", "int", "samples", "samples of the profile, without workers of data loaders", NEEDS),
    Feature("profile_place", "text", "", "what the program did in most samples, of what rules/stacks.yaml knows", NEEDS),
    Feature("profile_share", "float", "", "share of the samples in which it did that", NEEDS),
    Feature("profile_frame", "text", "", "the user's own frame of most of these samples, file:line in function", NEEDS),
    Feature("profile_loader_share", "float", "", "share of the samples that wait for the data loader", NEEDS),
)  # fmt: skip
LOADER = "loader"  # the entry of rules/stacks.yaml


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing without a profile."""
    known = doings()
    helpers = [name for name, doing in known.items() if doing.helper]
    doing = pl.col("message").str.split(": ").list.first()
    rows = context.run.blocks.filter(pl.col("kind") == "profile").with_columns(doing=doing)
    rows = rows.filter(~pl.col("doing").is_in(helpers))
    samples = int(rows["repeated"].sum() or 0)
    if not samples:
        return {}
    witness = Witness(file=rows["file"][0])
    loading = int(rows.filter(pl.col("doing") == LOADER)["repeated"].sum())
    values: Computed = {
        "profile_sample_count": (samples, witness),
        "profile_loader_share": (loading / samples, witness),
    }
    by_doing = rows.filter(pl.col("doing").is_in(list(known))).group_by("doing").agg(pl.col("repeated").sum())
    if not by_doing.height:
        return values
    most, count = by_doing.sort("repeated", "doing", descending=[True, False]).row(0)
    frame = rows.filter(pl.col("doing") == most).sort("repeated", descending=True)["frame"].drop_nulls()
    values |= {"profile_place": (known[most].place, witness), "profile_share": (count / samples, witness)}
    return values | ({"profile_frame": (frame[0], witness)} if len(frame) else {})
