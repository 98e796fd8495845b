"""Printed text that a file of another format holds: it is read like a log."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from loganalyst.model import Tables
from loganalyst.sources.formats import formats


def printed(text: Path) -> Iterator[Tables]:
    """The known lines, blocks and arguments in `text`; not its numbers, which the other format has in a better form.

    All belong to session 0. `line` counts within the text. There are no offsets, for the text is no file of the run.
    """
    (log,) = (module for module in formats() if module.NAME == "text")
    for tables in log.read(text):
        yield Tables(
            lines=_inside(tables.lines), blocks=_inside(tables.blocks), config=tables.config, gaps=_inside(tables.gaps)
        )


def _inside(frame: pl.DataFrame) -> pl.DataFrame:
    if not frame.height:
        return frame
    session = [pl.lit(0, pl.Int32).alias("session")] if "session" in frame.columns else []
    return frame.with_columns(*session, offset=pl.lit(None, pl.Int64))
