"""Whether a program that printed exceptions itself went on with its work, by the last lines of its log.

It did what it had done before (`video 7 ok`, `video 8 ok`), or its results follow. Neither tells that all went well:
only that the exceptions did not end it.
"""

from math import inf

import polars as pl

from loganalyst.model import table
from loganalyst.sources.text.patterns import closing, ending, results
from loganalyst.sources.text.sessionends import Session
from loganalyst.thresholds import blame_limit

PATTERN = "went-on"
# `2024-05-01 10:00:02,123 INFO tune.py: trial 3`
_RECORD = r"\d\d:\d\d:\d\d.{0,40}\b(?:INFO|DEBUG)\b"
_FIRST_WORD = r"^[^a-z]*([a-z_]{2,})"  # of a message in lower case: `video` of `[7] video 12 ok`


def found(tail: pl.DataFrame, start: Session, file: str, session: int) -> pl.DataFrame:
    """One row of `lines` (pattern `went-on`, part `work`) if the `tail` of a log (`ending.last_lines`) has work and no
    error, behind the exceptions that this `start` of the program printed; else none. Results behind a training may be
    what it had reached when it failed.
    """
    later = tail.filter(pl.col("line") > start.last_own)
    command = start.own == ["command"]  # of a job script: what complains behind it is another program
    if not later.height or (not command and closing.complains(later.tail(ending.MAX_LAST_LINES))):
        return table("lines")
    tail = tail.with_columns(message=closing.messages(tail["body"]), behind=pl.col("line") > start.last_own)
    shown = _shown(tail, tail.filter("behind"), start)
    if not shown.height:
        return table("lines")
    last, part = shown.tail(1), "advice" if command else "work"
    return table("lines", {
        "session": session, "file": file, "line": last["line"], "pattern": PATTERN, "part": part, "captures": "{}",
        "text": last["text"].str.head(closing.MAX_TEXT_CHARS),
    })  # fmt: skip


def _shown(tail: pl.DataFrame, later: pl.DataFrame, start: Session) -> pl.DataFrame:
    """The lines behind the exceptions that show work; none if there are too few."""
    beside = "library" in start.own and {*start.own} <= {"library", "line"}  # a message beside the traceback
    if (beside or {*start.own} <= {"library", "command"}) and later.height >= blame_limit("same_work"):
        return later  # it caught what it raised as it was imported, or a shell went on behind its command
    same = _same_work(tail)
    if "interpreter" in start.own:
        return same if _logged(same) >= _enough_records(start) else same[:0]
    if same.height or start.trained >= blame_limit("survived_after"):
        return same
    return later.filter(results.are_results(later["message"]))


def _logged(lines: pl.DataFrame) -> int:
    """How many of the lines are records of a logger, which writes at once: other output waits in a buffer."""
    return int(lines["text"].str.contains(_RECORD).sum())


def _enough_records(start: Session) -> float:
    """How many records show that an exception which nothing caught, by its form, was of another program.

    Where the program trains, they may be of its other ranks or of a buffer: `blame/survival.py` counts metrics then.
    """
    if start.caught_at_top():
        return blame_limit("same_work")
    return inf if start.trained >= blame_limit("survived_after") else blame_limit("records_go_on")


def _same_work(tail: pl.DataFrame) -> pl.DataFrame:
    """The lines behind the fault that begin with the word of lines before it, if there are enough of them. Where the
    fault is farther back than the tail, its lines may begin with any word.
    """
    words = tail.with_columns(word=pl.col("message").str.extract(_FIRST_WORD)).drop_nulls("word")
    known = words.filter(~pl.col("behind"))["word"].unique()
    later = words.filter("behind")
    later = later.filter(pl.col("word").is_in(known.implode())) if known.len() else later
    return later.filter(pl.len().over("word") >= blame_limit("same_work"))
