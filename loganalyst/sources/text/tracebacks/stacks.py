"""Stacks of C++ programs, of crashed interpreters, and other deaths below Python."""

import polars as pl

from loganalyst.sources.text.tracebacks.frames import FRAME, LIBRARY
from loganalyst.sources.text.tracebacks.tracelines import MAX_ROWS

OPEN = ("terminate called", "Fatal Python error: ", "*** Process received signal ***")  # more lines follow
WORDS = (
    *OPEN, "Exception raised from ", "double free or corruption", "free(): ", "malloc(): ",
    "corrupted size vs. prev_size", "munmap_chunk(): ",
)  # fmt: skip

# `terminate called after throwing an instance of 'c10::Error'`
_THROWN = r"terminate called (?:after throwing an instance of '(.+)'|without an active exception|recursively)"
_FATAL = r"Fatal Python error: (.*)"  # `Fatal Python error: Segmentation fault`
# `Exception raised from launch at /a/b.cpp:12 (most recent call first)`
_RAISED = r"^Exception raised from (\S.*?) at (\S+:\d+) \(most recent call first\)"
# `double free or corruption (!prev)`, `free(): invalid pointer`
_HEAP = r"((?:double free or corruption|free\(\): |malloc\(\): |corrupted size vs\. prev_size|munmap_chunk\(\): ).*)"
_SIGNAL = r"Signal: (.*)"  # `Signal: Segmentation fault (11)`
_WHAT = r"^\s*what\(\):\s*(.*)"  # ` what(): CUDA error: an illegal memory access`
# Lines between a message and its stack that say nothing themselves: `For debugging consider passing
# CUDA_LAUNCH_BLOCKING=1`
_ADVICE = r"^CUDA kernel errors might|^For debugging consider|^Compile with `|^Device-side assertion tracking|^\s|^$"
# Lines of a stack: `frame #3: `, `#3 0x7f`, `[ 3] libc.so`, `File "a.py"`, `Thread 0x7f (most recent call first):`
_STACK = (
    r"^\s*(?:frame #\d+:|#\d+ |\[ ?\d+\] |File \"|what\(\):|Current thread|Thread 0x|Extension modules|C\+\+ Captured)"
    r"|most recent call first|\] Signal|\] Associated errno|\] Failing at|End of error message"
)
_MAX_ROWS_BELOW = 12  # rows below a description within which its C++ stack begins
_MAX_OTHER_ROWS = 8  # rows of another kind within a stack

FOUND = pl.Schema(
    {
        "kind": pl.String, "first": pl.Int64, "last": pl.Int64, "exception": pl.String, "message": pl.String,
        "frame": pl.String, "cause": pl.Int64, "rank": pl.Int64, "node": pl.String, "ranks": pl.String,
        "time": pl.Int64,
    }
)  # fmt: skip


def find(rows: pl.DataFrame, exceptions: pl.Series) -> pl.DataFrame:
    """The stacks in `rows` (prefix, body): kind, first and last row (positions), exception, message and frame.

    A C++ stack right below a better description is part of that: a Python exception at one of the positions
    `exceptions`, or the message of `terminate`.
    """
    body, row = pl.col("body"), pl.col("row")
    numbered = rows.select("prefix", "body").with_columns(row=pl.int_range(pl.len()))
    opens = body.str.contains(f"{_THROWN}|{_FATAL}|Process received signal|^.{{0,60}}{_HEAP}")
    raised = body.str.contains(_RAISED)
    at = pl.int_range(pl.len())
    above = pl.when(opens | row.is_in(exceptions.implode())).then(at).forward_fill()
    starts = opens | (raised & ~(at - above <= _MAX_ROWS_BELOW).over("prefix").fill_null(value=False))
    numbered = numbered.with_columns(
        block=starts.cum_sum().over("prefix"),
        line_above=pl.when(~body.str.contains(_ADVICE))
        .then(body)
        .shift(1)
        .forward_fill(_MAX_OTHER_ROWS)
        .over("prefix"),
    ).filter(pl.col("block") > 0)
    numbered = numbered.filter(pl.int_range(pl.len()).over("prefix", "block") <= MAX_ROWS)
    return numbered.group_by("prefix", "block", maintain_order=True).agg(**_columns()).select(
        kind=pl.lit("cpp"), **{name: pl.col(name) for name in ("first", "last", "exception", "message", "frame")},
    )  # fmt: skip


def _columns() -> dict[str, pl.Expr]:
    """The columns of a stack, as expressions over its rows."""
    body, head = pl.col("body"), pl.col("body").first()
    raised = body.str.extract_groups(_RAISED).struct
    place = pl.concat_str([raised.field("2"), pl.lit(" in "), raised.field("1")]).drop_nulls().first()
    stack = body.str.contains(_STACK)
    in_reach = (~stack & (body != "")).cum_sum() <= _MAX_OTHER_ROWS
    threads = body.str.contains(r"^\s*Thread 0x")
    current = pl.when(body.str.contains("Current thread")).then(True).when(threads).then(threads.sum() == 1)
    python = body.str.extract_groups(FRAME).struct
    shown = pl.concat_str([python.field("1"), pl.lit(":"), python.field("2"), pl.lit(" in "), python.field("3")])
    own_frames = shown.filter(current.forward_fill().fill_null(False) & ~python.field("1").str.contains(LIBRARY))
    fatal, heap = head.str.extract(_FATAL, 1).str.strip_chars(), head.str.extract(_HEAP, 1)
    signal = body.str.extract(_SIGNAL, 1).drop_nulls().first()
    return {
        "first": pl.col("row").first(),
        "last": pl.max_horizontal(pl.col("row").filter(stack & in_reach).max(), pl.col("row").first()),
        "exception": pl.when(fatal.is_not_null()).then(pl.lit("Fatal Python error"))
        .when(heap.is_not_null()).then(pl.lit("heap corruption"))
        .when(head.str.contains("Process received signal")).then(pl.lit("signal"))
        .when(head.str.contains(_RAISED)).then(pl.lit("c10::Error"))
        .otherwise(pl.coalesce(head.str.extract(_THROWN, 1), pl.lit("terminate"))),
        "message": pl.coalesce(
            fatal, heap, pl.when(head.str.contains("Process received signal")).then(signal),
            pl.when(head.str.contains(_RAISED)).then(pl.col("line_above").first()),
            body.str.extract(_WHAT, 1).drop_nulls().first(),
        ),
        "frame": pl.coalesce(own_frames.first(), place),
    }  # fmt: skip
