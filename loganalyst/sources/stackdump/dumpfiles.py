"""Files that a profiler wrote: read whole and parsed. Content that cannot be used becomes a gap."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import polars as pl

from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import gap

_Parsed = TypeVar("_Parsed")
# What a parser raises for content of another form
_OTHER_FORM = (ValueError, TypeError, AttributeError, LookupError, RecursionError)


def parsed(path: Path, kind: str, limit: int, parse: Callable[[str], _Parsed]) -> _Parsed | pl.DataFrame:
    """What `parse` makes of the text of a file that holds a `kind`, such as "profile".

    A row of `gaps` instead, if the file has more than `limit` bytes or its content another form. Raises OSError.
    """
    size = path.stat().st_size
    if size > limit:
        return gap(path, f"a {kind} larger than {limit >> 20} MiB", 0, size)
    try:
        return parse(whole(path).decode("utf-8", "replace"))
    except _OTHER_FORM as error:
        return gap(path, f"not a readable {kind} ({error})", 0, size)
