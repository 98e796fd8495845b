"""Where the tracebacks, stacks and launchers' tables of a batch of a log are."""

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from loganalyst.sources.log import elastic, faults, stacks, tracebacks
from loganalyst.sources.log.lines import Chunk
from loganalyst.sources.log.patterns import Rows

_HEADER = (tracebacks.HEADER,)
# words that open a block, and the rows before and after one that may belong to it; several ranks may print at once
_OPENERS = (
    (_HEADER, 2, 4 * tracebacks.LONGEST), (tracebacks.SYNTAX, 60, 1), (stacks.WORDS, 60, tracebacks.LONGEST),
    ((elastic.ROOT,), elastic.TABLE, 60), (faults.WORDS, 0, 1),
)  # fmt: skip
WORDS = tuple(chain.from_iterable(words for words, _, _ in _OPENERS))
_LATE = 80  # rows at the end of a batch: a block that opens in them may go on in the next
_XLA = r"(?:Xla|Jax)RuntimeError$"
_NOTE = "JaxStackTraceBeforeTransformation"
_LAUNCHER = "ChildFailedError"
_FRAME = b'File "'
_SYNTAX = 3  # rows from a frame without a header to its SyntaxError: itself, the code, the place in it


class Found(NamedTuple):
    """What a batch holds. `ends` are the Python tracebacks (`tracebacks.FOUND`), `blocks` all blocks (`stacks.FOUND`);
    places are rows of the batch.
    """

    ends: pl.DataFrame
    blocks: pl.DataFrame


def find(chunk: Chunk, said: Mapping[str, Rows]) -> Found:
    """The blocks of a batch; `said` has the rows in which each of WORDS stands."""
    place = _near(len(chunk), said)
    if not len(place):
        return Found(pl.DataFrame(schema=tracebacks.FOUND), pl.DataFrame(schema=stacks.FOUND))
    rows = chunk.rows(place)
    ends = tracebacks.find(rows)
    exceptions = ends["row"].drop_nulls()
    python = pl.concat([ends, tracebacks.headless(rows, exceptions)])
    launched = elastic.find(rows)
    blocks = pl.concat(
        [_launched(_python(python), launched), stacks.find(rows, exceptions), faults.find(rows, exceptions)],
        how="diagonal",
    )
    who = rows.select("rank", "node")[blocks["first"]]
    blocks = blocks.with_columns(rank=pl.coalesce("rank", who["rank"]), node=pl.coalesce("node", who["node"]))

    return Found(_placed(ends, rows, "head", "row", "deep"), _placed(blocks, rows, "first", "last", "cause"))


def _placed(found: pl.DataFrame, rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """With rows of the batch in place of positions in `rows`."""
    return found.with_columns(rows["row"].gather(found[name]).alias(name) for name in names)


def unfinished(chunk: Chunk) -> int:
    """The first row of a block that may go on in the next batch (their number if none)."""
    last, header = len(chunk), tracebacks.HEADER.encode()
    late = int(chunk.starts[max(last - _LATE, 0)])
    places = [at for word in stacks.OPEN if (at := chunk.data.find(word.encode(), late)) >= 0]
    if (at := chunk.data.find(_LAUNCHER.encode(), late)) >= 0:  # its table follows its traceback
        places.append(max(chunk.data.rfind(header, 0, at), int(chunk.starts[max(last - tracebacks.LONGEST, 0)])))
    if places:
        last = int(np.searchsorted(chunk.starts, min(places), side="right")) - 1
    first = max(last - tracebacks.LONGEST, 0)
    if chunk.data.find(header, int(chunk.starts[first]), int(chunk.starts[last])) >= 0:
        last = first + tracebacks.unfinished(chunk.rows(np.arange(first, last)))
    return _frame(chunk) if last == len(chunk) else last


def _frame(chunk: Chunk) -> int:
    """The row of a frame without a header, whose SyntaxError may come in the next batch (their number if none)."""
    first = max(len(chunk) - _SYNTAX, 0)
    if chunk.data.find(_FRAME, int(chunk.starts[first])) < 0:
        return len(chunk)
    said = chunk.rows(np.arange(first, len(chunk)))["body"]
    ends = [i for i, body in enumerate(said) if not body.startswith("  ")]
    return next(
        (first + i for i in range(max(ends, default=-1) + 1, len(said)) if said[i].startswith('  File "')), len(chunk)
    )


def _near(rows: int, said: Mapping[str, Rows]) -> Rows:
    """The rows that may belong to a block."""
    edges = np.zeros(rows + 1, np.int64)
    for words, before, after in _OPENERS:
        at = np.concatenate([said[word] for word in words])
        np.add.at(edges, np.maximum(at - before, 0), 1)
        np.add.at(edges, np.minimum(at + after, rows), -1)
    return np.flatnonzero(np.cumsum(edges[:-1]) > 0)


def _python(found: pl.DataFrame) -> pl.DataFrame:
    """Tracebacks as blocks."""
    note = pl.col("exception").str.ends_with(_NOTE)
    message = pl.when(pl.col("message") == "").then("more").otherwise("message")
    return found.filter(pl.coalesce("row", "deep").is_not_null() & ~note.fill_null(value=False)).select(
        "exception", "frame", "cause", message=message, first="head", last=pl.coalesce("row", "deep"), rank="process",
        kind=pl.when(pl.col("exception").str.contains(_XLA).fill_null(value=False)).then(pl.lit("xla")).otherwise(pl.lit("python")),
        node=pl.lit(None, pl.String), ranks=pl.lit(None, pl.String), time=pl.lit(None, pl.Int64),
    )  # fmt: skip


def _launched(python: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """Tracebacks with torchrun's table: a rank's traceback in the table is that rank's, and the launcher failed because
    of the rank that failed first.
    """
    if not entries.height:
        return python
    own = entries.select(first="cause", said="rank", host="node").drop_nulls("first").unique("first")
    python = python.join(own, on="first", how="left", maintain_order="left")
    roots = entries.filter("root").select(root="first", at="first").sort("at")
    python = python.sort("last").join_asof(roots, left_on="last", right_on="at", strategy="forward")
    launcher = pl.col("exception").str.ends_with(_LAUNCHER)
    python = python.with_columns(
        rank=pl.coalesce("rank", "said"), node=pl.coalesce("node", "host"),
        cause=pl.coalesce("cause", pl.when(launcher).then("root")),
    ).drop("said", "host", "root", "at").sort("first")  # fmt: skip
    return pl.concat([python, entries.drop("root")], how="diagonal")
