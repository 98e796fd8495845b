"""The tracebacks, stacks and launchers' tables of a batch of a log."""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from loganalyst.sources.text.lines.chunks import Chunk
from loganalyst.sources.text.lines.numberrecords import Integers
from loganalyst.sources.text.tracebacks import chains as tracebacks
from loganalyst.sources.text.tracebacks import (
    dasktasks,
    headers,
    onelinefaults,
    runningstacks,
    stacks,
    syntaxerrors,
    torchrun,
)
from loganalyst.sources.text.tracebacks.printers import by_printer
from loganalyst.sources.text.tracebacks.tracelines import MAX_ROWS
from loganalyst.sources.text.tracebacks.traces import Traceback

_OPENING = (headers.HEADER, headers.REMOTE)
_PYTHON = (*_OPENING, *syntaxerrors.WORDS, dasktasks.WORD)
# Words that open a block, and how many rows before and behind may belong to it; several ranks may print at once
_OPENERS = (
    (_OPENING, 2, 4 * MAX_ROWS), (syntaxerrors.WORDS, 4 * MAX_ROWS, 1), ((dasktasks.WORD,), 0, dasktasks.MAX_ROWS),
    (stacks.WORDS, 60, MAX_ROWS), (runningstacks.WORDS, runningstacks.ROWS_ABOVE, MAX_ROWS),
    ((torchrun.ROOT,), torchrun.MAX_TABLE_ROWS, 60), (onelinefaults.WORDS, 0, 1),
)  # fmt: skip
WORDS = tuple(chain.from_iterable(words for words, _, _ in _OPENERS))
# Rows at the end of a batch: a block that opens in them may go on in the next batch
_LAST_ROWS = 80
_XLA = ("XlaRuntimeError", "JaxRuntimeError")
_NOTE = "JaxStackTraceBeforeTransformation"
_LAUNCHER = "ChildFailedError"
_FRAME = b'File "'
# Rows from a frame without a header to its SyntaxError: the frame, the code, the mark below the code
_SYNTAX_ROWS = 3


class Found(NamedTuple):
    """The blocks of a batch; places are rows of the batch. `blocks` are all of them (`stacks.FOUND`).

    `ends` are the Python tracebacks with a known exception, one a row: row and header, chain, exception, message,
    frame, rank and node that it is said to come from, harmless, ignored, printer, outer, late, tried_again. `chains` is
    their number of chains.
    """

    ends: pl.DataFrame
    blocks: pl.DataFrame
    chains: int


_ENDS = pl.Schema(
    {"row": pl.Int64, "head": pl.Int64, "chain": pl.Int64, "exception": pl.String, "message": pl.String,
     "frame": pl.String, "rank": pl.Int64, "node": pl.String, "harmless": pl.Boolean,
     "ignored": pl.Boolean, "printer": pl.String, "outer": pl.String, "late": pl.Boolean, "tried_again": pl.Boolean}
)  # fmt: skip
_NONE = Found(pl.DataFrame(schema=_ENDS), pl.DataFrame(schema=stacks.FOUND), 0)


def find(chunk: Chunk, word_rows: Mapping[str, Integers]) -> Found:
    """The blocks of a batch; `word_rows` has the rows that contain each of WORDS."""
    place = _candidate_rows(len(chunk), word_rows)
    if not len(place):
        return _NONE

    def occurs(*words: str) -> bool:
        return any(len(word_rows[word]) for word in words)

    rows = chunk.rows(place)
    printers = by_printer(rows) if occurs(*_PYTHON) else []
    traces = tracebacks.find(printers)
    failed = dasktasks.find(printers) if occurs(dasktasks.WORD) else []
    known = {one.row for one in traces if one.row is not None}
    python = [_block_of(one) for one in traces if one.deep is not None or one.row is not None if not _is_note(one)]
    python += [("dask", one.first, one.last, *one[2:], None, None, None, None, None) for one in failed]
    if occurs(*syntaxerrors.WORDS):
        python += syntaxerrors.find(printers, known)
    found = [_frame(python, stacks.FOUND)]
    exceptions = pl.Series(sorted(known), dtype=pl.Int64)
    if occurs(torchrun.ROOT):
        found[0] = _with_launcher_table(found[0], torchrun.find(rows))
    found += [one.find(rows, exceptions) for one in (stacks, onelinefaults, runningstacks) if occurs(*one.WORDS)]
    chains = len({one.chain for one in traces})
    ends = [
        (one.row, one.head, one.chain, one.exception, one.message, one.frame, one.process, one.node, one.harmless,
         one.ignored, one.printer, one.outer, one.late or None, one.tried_again or None)
        for one in traces
    ]  # fmt: skip
    of_tasks = (None, None, False, False, None, None, None, None)
    ends += [(one.first, one.first, chains + i, *one[2:], *of_tasks) for i, one in enumerate(failed, 1)]
    return Found(_ends(ends, place), _placed(pl.concat(found, how="diagonal"), rows), chains + len(failed))


def _ends(found: list[tuple[Any, ...]], place: Integers) -> pl.DataFrame:
    """The tracebacks in the columns of `_ENDS`, with rows of the batch instead of positions."""
    first = {one[0]: one for one in reversed(found) if one[0] is not None}
    known = [(int(place[row]), int(place[head]), *more) for row, head, *more in (first[row] for row in sorted(first))]
    return _frame(known, _ENDS)


def _frame(rows: Sequence[Sequence[Any]], schema: pl.Schema) -> pl.DataFrame:
    """Rows as a frame; built column by column, which polars does many times faster."""
    columns = zip(*rows, strict=True) if rows else repeat(())
    return pl.DataFrame([pl.Series(k, v, t) for (k, t), v in zip(schema.items(), columns, strict=False)])


def _placed(found: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The blocks with rows of the batch instead of positions in `rows`, and with rank and node of the first row where
    they name none.
    """
    first = rows.select("rank", "node")[found["first"]]
    return found.with_columns_seq(
        *(rows["row"].gather(found[name]).alias(name) for name in ("first", "last", "cause")),
        rank=pl.coalesce("rank", first["rank"]), node=pl.coalesce("node", first["node"]),
    )  # fmt: skip


def unfinished(chunk: Chunk) -> int:
    """The first row of a block that may go on in the next batch (the number of rows if there is none)."""
    last, header = len(chunk), headers.HEADER.encode()
    tail_start = int(chunk.starts[max(last - _LAST_ROWS, 0)])
    places = [at for word in (*stacks.OPEN, dasktasks.WORD) if (at := chunk.data.find(word.encode(), tail_start)) >= 0]
    if (at := chunk.data.find(_LAUNCHER.encode(), tail_start)) >= 0:  # its table follows its traceback
        places.append(max(chunk.data.rfind(header, 0, at), int(chunk.starts[max(last - MAX_ROWS, 0)])))
    if places:
        last = int(np.searchsorted(chunk.starts, min(places), side="right")) - 1
    first = max(last - 4 * MAX_ROWS, 0)
    if any(chunk.data.find(word.encode(), int(chunk.starts[first]), int(chunk.starts[last])) >= 0 for word in _OPENING):
        printers = by_printer(chunk.rows(np.arange(first, last)))
        open_ = tracebacks.unfinished(printers)
        last = last if open_ is None else first + open_
    return _bare_frame(chunk) if last == len(chunk) else last


def _bare_frame(chunk: Chunk) -> int:
    """The row of a frame without a header, whose SyntaxError may be in the next batch (the number of rows if there is
    none).
    """
    first = max(len(chunk) - _SYNTAX_ROWS, 0)
    if chunk.data.find(_FRAME, int(chunk.starts[first])) < 0:
        return len(chunk)
    word_rows = chunk.rows(np.arange(first, len(chunk)))["body"]
    ends = [i for i, body in enumerate(word_rows) if not body.startswith("  ")]
    return next(
        (first + i for i in range(max(ends, default=-1) + 1, len(word_rows)) if word_rows[i].startswith('  File "')),
        len(chunk),
    )


def _candidate_rows(rows: int, word_rows: Mapping[str, Integers]) -> Integers:
    """The rows that may belong to a block."""
    edges = np.zeros(rows + 1, np.int64)
    for words, before, after in _OPENERS:
        at = np.concatenate([word_rows[word] for word in words])
        np.add.at(edges, np.maximum(at - before, 0), 1)
        np.add.at(edges, np.minimum(at + after, rows), -1)
    return np.flatnonzero(np.cumsum(edges[:-1]) > 0)


def _block_of(one: Traceback) -> tuple[str | int | None, ...]:
    """A traceback as a row of `stacks.FOUND`."""
    kind = "xla" if one.exception and one.exception.endswith(_XLA) else "python"
    last, message = one.deep if one.row is None else one.row, one.more if one.message == "" else one.message
    return kind, one.head, last, one.exception, message, one.frame, one.cause, one.process, one.node, None, None


def _is_note(one: Traceback) -> bool:
    return (one.exception or "").endswith(_NOTE)


def _with_launcher_table(python: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """Tracebacks with torchrun's table: a traceback in the table belongs to the entry's rank, and the launcher failed
    because of the rank that failed first.
    """
    if not entries.height:
        return python
    owners = entries.select(first="cause", entry_rank="rank", entry_node="node").drop_nulls("first").unique("first")
    python = python.join(owners, on="first", how="left", maintain_order="left")
    roots = entries.filter("root").select(root="first", at="first").sort("at")
    python = python.sort("last").join_asof(roots, left_on="last", right_on="at", strategy="forward")
    launcher = pl.col("exception").str.ends_with(_LAUNCHER)
    python = python.with_columns(
        rank=pl.coalesce("rank", "entry_rank"), node=pl.coalesce("node", "entry_node"),
        cause=pl.coalesce("cause", pl.when(launcher).then("root")),
    ).drop("entry_rank", "entry_node", "root", "at").sort("first")  # fmt: skip
    return pl.concat([python, entries.drop("root")], how="diagonal")
