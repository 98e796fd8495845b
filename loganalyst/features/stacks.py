"""Features from dumps of stacks (py-spy, faulthandler): which ranks wait in a collective, and what the others do."""

import polars as pl

from loganalyst.features.collectives import ranges
from loganalyst.features.context import Computed, Context
from loganalyst.model import Feature, Run, Witness
from loganalyst.stackdoings import doings
from loganalyst.thresholds import blame_limit

NEEDS = "stacks of all ranks while the run hangs (py-spy dump --pid PID > pyspy_rank3.txt)"
FEATURES = (
    Feature("stack_count", "int", "processes", "ranks whose stack was dumped, without workers of data loaders", NEEDS),
    Feature("stack_waiting_count", "int", "ranks", "ranks in the call that most ranks wait in", NEEDS),
    Feature("stack_waiting", "text", "", "these ranks", NEEDS),
    Feature("stack_operation", "text", "", "the call that most ranks wait in", NEEDS),
    Feature("stack_frame", "text", "", "the user's own frame of that call, file:line in function", NEEDS),
    Feature("stack_elsewhere_count", "int", "ranks", "ranks that do something else (NULL: no rank waits for others)", NEEDS),
    Feature("stack_elsewhere", "text", "", "these ranks", NEEDS),
    Feature("stack_elsewhere_place", "text", "", "what the first of them does", NEEDS),
    Feature("stack_elsewhere_frame", "text", "", "the user's own frame of the first of them", NEEDS),
    Feature("stack_place", "text", "", "what all dumped processes do, where it is the same", NEEDS),
    Feature("stack_held", "text", "", "ranks that were dumped where a process may stay for ever, such as in a collective", NEEDS),
    Feature("stack_held_place", "text", "", "what the first of them does", NEEDS),
    Feature("stack_own_frame", "text", "", "the user's own frame of that, file:line in function", NEEDS),
)  # fmt: skip
OTHER = "in code of its own"  # a place that no entry of rules/stacks.yaml knows


def compute(context: Context) -> Computed:
    """All of FEATURES; nothing if no stack was dumped. Of several dumps of a rank the last one counts, unless training
    went on after it.
    """
    blocks = context.run.blocks
    helpers = [name for name, doing in doings().items() if doing.helper]
    words = pl.col("message").str.split_exact(": ", 1).struct.rename_fields(["doing", "call"])
    stacks = _at_the_end(context.run, blocks.filter(pl.col("kind") == "stack"))
    stacks = stacks.with_columns(words.alias("words")).unnest("words")
    stacks = stacks.filter(~pl.col("doing").is_in(helpers))
    numbered = stacks.filter(pl.col("rank").is_not_null()).unique("rank", keep="last", maintain_order=True)
    stacks = pl.concat([numbered, stacks.filter(pl.col("rank").is_null())])
    if not stacks.height:
        return {}
    places = {_place(name) for name in stacks["doing"]}
    witness = _witness(stacks)
    same: Computed = {"stack_place": (places.pop(), witness)} if len(places) == 1 else {}
    if same and stacks["frame"][0]:
        same["stack_own_frame"] = (stacks["frame"][0], witness)
    return {"stack_count": stacks.height, **same, **_held(stacks), **_waiting(stacks)}


def _held(stacks: pl.DataFrame) -> Computed:
    """The ranks in places where a process may stay for ever."""
    held = stacks.filter(pl.col("doing").is_in([name for name, doing in doings().items() if doing.held]))
    if not held.height:
        return {}
    return {"stack_held": (_names(held), _witness(held)), "stack_held_place": _place(held["doing"][0])}


def _at_the_end(run: Run, stacks: pl.DataFrame) -> pl.DataFrame:
    """The stacks without those in the midst of a log: metrics follow them, or a new start."""
    if not stacks.height:
        return stacks
    points = run.points.lazy().filter(pl.col("source").is_in(stacks["file"].unique().implode()), pl.col("line") > 0)
    later = points.group_by(file="source").agg(goes_on=pl.col("line").unique().sort(descending=True)).collect()
    last_but_one = int(blame_limit("survived_after")) - 1
    enough = pl.col("goes_on").list.get(last_but_one, null_on_oob=True) > pl.col("last_line")
    newest = run.sessions.group_by(file="source").agg(newest=pl.col("session").max())
    stacks = stacks.join(later, on="file", how="left", maintain_order="left")
    stacks = stacks.join(newest, on="file", how="left", maintain_order="left")
    started_again = (pl.col("session") < pl.col("newest")).fill_null(value=False)
    return stacks.filter(~enough.fill_null(value=False), ~started_again).drop("goes_on", "newest")


def _waiting(stacks: pl.DataFrame) -> Computed:
    """The largest group of ranks that wait in the same call, and the ranks that do something else."""
    waits = [name for name, doing in doings().items() if doing.waits]
    inside = stacks.filter(pl.col("doing").is_in(waits))
    if not inside.height:
        return {}
    call, frame = inside.group_by("call", "frame", maintain_order=True).len().sort("len", descending=True).row(0)[:2]
    same = pl.col("doing").is_in(waits) & (pl.col("call") == call) & pl.col("frame").eq_missing(frame)
    waiting, others = stacks.filter(same), stacks.filter(~same)
    values: Computed = {
        "stack_waiting_count": (waiting.height, _witness(waiting)),
        "stack_waiting": _names(waiting),
        "stack_operation": call,
        "stack_frame": frame,
        "stack_elsewhere_count": others.height,
    }
    if not others.height:
        return values
    return values | {
        "stack_elsewhere": (_names(others), _witness(others)),
        "stack_elsewhere_place": (_place(others["doing"][0]), _witness(others)),
        "stack_elsewhere_frame": (others["frame"][0], _witness(others)),
    }


def _place(doing: str) -> str:
    return doings()[doing].place if doing in doings() else OTHER


def _names(stacks: pl.DataFrame) -> str:
    """`ranks 0-2`; processes without a rank by their numbers in the file: `process 3 of pyspy.txt`."""
    ranks = stacks["rank"].drop_nulls().to_list()
    words = [f"rank{'s' if len(ranks) > 1 else ''} {ranges(ranks)}"] if ranks else []
    unknown = stacks.filter(pl.col("rank").is_null()).select("block", "file").rows()
    return ", ".join([*words, *(f"process {block} of {file}" for block, file in unknown[:8])])


def _witness(stacks: pl.DataFrame) -> Witness:
    file, line, rank = stacks.select("file", "first_line", "rank").row(0)
    return Witness(file=file, line=line, rank=rank)
