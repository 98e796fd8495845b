"""Python tracebacks in a job log: taken apart by rank, chains kept together, each with its exception and frame."""

from collections import Counter
from typing import Any

import polars as pl

from loganalyst.sources.log.tracelines import FRAME, HEADER, LIBRARY, LONGEST, inside, parts

__all__ = ["FOUND", "HEADER", "LONGEST", "SYNTAX", "find", "headless", "unfinished"]

SYNTAX = ("SyntaxError: ", "IndentationError: ", "TabError: ")  # of the program itself: printed without a header
_NOTE = "JaxStackTraceBeforeTransformation"  # an operation's origin, printed like the cause of what follows
_PLACE = r'^\s*File "[^"]+", line \d+$'
_GROUP, _GROUP_END = r"^ {1,2}\+ Exception Group Traceback", r"^ {3,4}\+-{20,}$"  # a prefix may take a blank
_SOURCE = 4  # rows between the place of a syntax error and its name

FOUND = pl.Schema(
    {
        "head": pl.Int64,
        "row": pl.Int64,
        "deep": pl.Int64,
        "chain": pl.Int64,
        "exception": pl.String,
        "message": pl.String,
        "frame": pl.String,
        "harmless": pl.Boolean,
        "more": pl.String,
        "process": pl.Int64,
        "cause": pl.Int64,
    }
)


def find(rows: pl.DataFrame) -> pl.DataFrame:
    """The tracebacks in `rows` (body and prefix, String; file order): one row each, by position.

    head, row: positions (Int64) of the header and of the exception's line (NULL where it is cut off); deep: of its last
    frame; chain: number of the chain it belongs to; exception, message; frame: "file:line in function" of the innermost
    frame outside libraries (NULL where there is none, or it is not known whose it is); harmless: printed by the
    interpreter's clean-up or a side thread; more: what the lines below say first; process: the rank that another
    process's traceback is said to be of; cause: header of the exception that led to this one, or of a group's first
    member.
    """
    if not rows["body"].str.contains(HEADER, literal=True).any():
        return pl.DataFrame(schema=FOUND)
    told = {name: pl.col(name).first() for name in ("harmless", "depth", "inner", "process")}
    blocks = inside(rows).group_by("prefix", "block", maintain_order=True).agg(
        head=pl.col("row").first(), linked=pl.col("chain").any(), **told, **parts()
    )  # fmt: skip
    return _chained(_untangled(blocks)).select(pl.col(name).cast(dtype) for name, dtype in FOUND.items())


def unfinished(rows: pl.DataFrame) -> int:
    """Position of the first header whose exception may still come after the last of `rows` (their number if none)."""
    tail = rows.tail(LONGEST)
    cut = find(tail).filter(pl.col("row").is_null())["head"].to_list()
    open_ = min([*cut, *_groups(tail)], default=tail.height)
    return rows.height - tail.height + open_


def _groups(rows: pl.DataFrame) -> list[int]:
    """The headers of exception groups, one a rank, whose members may go on."""
    body, row = pl.col("body"), pl.int_range(pl.len())
    begun = pl.when(body.str.contains(_GROUP)).then(row)
    ended = pl.when(body.str.contains(_GROUP_END)).then(row)
    last = rows.select("prefix", begun=begun, ended=ended).group_by("prefix").max()
    return last.filter(pl.col("begun") > pl.col("ended").fill_null(-1))["begun"].to_list()


def headless(rows: pl.DataFrame, known: pl.Series) -> pl.DataFrame:
    """Syntax errors of the program itself, in the columns of `find`, but for those at the positions `known`."""
    body, row = pl.col("body"), pl.col("row")
    place, at = pl.when(body.str.contains(_PLACE)), pl.int_range(pl.len())
    said = body.str.extract_groups(rf"^({'|'.join(word[:-2] for word in SYNTAX)}): (.*)")
    found = rows.select("prefix", "body", row=pl.int_range(pl.len())).select(
        "row", head=place.then(row).forward_fill().over("prefix"),
        far=(at - place.then(at).forward_fill()).over("prefix"),
        exception=said.struct.field("1"), message=said.struct.field("2"),
    ).drop_nulls("exception")  # fmt: skip
    near = (pl.col("far") <= _SOURCE) & ~row.is_in(known.implode())
    found = found.filter(near.fill_null(value=False))
    said_at = rows["body"].gather(found["head"]).str.extract_groups(FRAME).struct
    frames = pl.DataFrame({"file": said_at.field("1"), "line": said_at.field("2")})
    frame = frames.select(pl.when(~pl.col("file").str.contains(LIBRARY)).then(pl.format("{}:{} in ?", "file", "line")))
    none = {name: pl.lit(None, dtype) for name, dtype in FOUND.items() if name not in found.columns}
    return found.with_columns(**none).with_columns(frame.to_series().alias("frame")).select(FOUND.names()).cast(FOUND)


def _untangled(blocks: pl.DataFrame) -> pl.DataFrame:
    """With the exceptions of processes that printed at once without prefixes: headers with nothing but frames between
    them, then as many exceptions. Whose frames are whose is known only where all of them printed the same ones.
    """
    cut = pl.col("row").is_null()
    mixed = cut & (pl.col("block") < pl.col("block").max().over("prefix"))
    if not blocks.select(mixed.any()).item():
        return blocks
    fixed: list[dict[str, Any]] = []
    waiting: list[int] = []
    for block in blocks.sort("prefix", "block").to_dicts():
        same = bool(waiting) and fixed[waiting[0]]["prefix"] == block["prefix"]
        waiting = [*(waiting if same else []), len(fixed)]
        fixed.append(block)
        if block["row"] is not None:
            _share([fixed[at] for at in waiting])
            waiting = []
    return pl.DataFrame(fixed, schema=blocks.schema)


def _share(blocks: list[dict[str, Any]]) -> None:
    """Give the exceptions below the last of these headers to all of them, in the order printed."""
    last = blocks[-1]
    if min(len(blocks), len(last["endings"])) < 2:
        return
    frames = [frame for block in blocks for frame in block["frames"]]
    alike = all(times % len(blocks) == 0 for times in Counter(frames).values())
    frame = frames[-1] if frames and alike else None
    told = zip(last["endings"], last["names"], last["says"], strict=True)
    for block, (row, exception, message) in zip(blocks, told, strict=False):
        block.update(row=row, exception=exception, message=message, frame=frame)


def _chained(blocks: pl.DataFrame) -> pl.DataFrame:
    """With the number of each one's chain and its cause, in file order."""

    def of_rank(column: pl.Expr, by: int) -> pl.Expr:
        return column.shift(by).over("prefix", order_by="block")

    depth, exception = pl.col("depth"), pl.col("exception")
    follows = of_rank(pl.col("linked"), 1).fill_null(value=False)
    member = (depth > 2) & (depth > depth.min().over("prefix"))
    above = pl.col("head").shift(1).over("prefix", "depth", order_by="block")
    note = of_rank(exception, 1).str.ends_with(_NOTE).fill_null(value=False)
    group = exception.str.ends_with("ExceptionGroup").fill_null(value=False)
    holds = (group & (of_rank(depth, -1) > depth)) | of_rank(pl.col("inner"), -1)
    blocks = blocks.with_columns(
        follows=follows | member,
        cause=pl.when(follows & ~note).then(above).when(holds).then(of_rank(pl.col("head"), -1)),
    ).sort("head")
    # Chains of two ranks may interleave: a chain is counted within its rank, then numbered over all.
    keyed = blocks.with_columns(chain=(~pl.col("follows")).cum_sum().over("prefix"))
    return keyed.with_columns(chain=pl.struct("prefix", "chain").rank("dense"))
