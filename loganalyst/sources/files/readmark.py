"""Marks in growing files: how far a file was read, so that the next reading takes only what was appended.

A reader of a format whose files only grow has, besides `read(path)`, a function

    resume(path, mark) -> Generator[Tables, None, Mark | None]

It yields what follows `mark` (None: everything, as `read` does), and returns the mark for the next time (None: this
file cannot be resumed). The rows of the file are then the first `kept` rows of each table of the earlier reading,
followed by the new rows; `sessions` is yielded whole each time. The result must be the same, row for row, as reading
the grown file at once.
"""

from collections.abc import Mapping
from typing import Any

import msgspec


class StartAgainError(Exception):
    """The appended bytes change how the earlier part must be read: the file must be read from its beginning."""


class Mark(msgspec.Struct, frozen=True):
    """The first `offset` bytes need not be read again; they gave `kept` rows of each table (by name; other tables:
    none). Further rows came from an unfinished end, which is read again. `state` is what the reader must remember, as
    plain JSON.
    """

    offset: int
    kept: Mapping[str, int]
    state: Mapping[str, Any]
