"""How far a growing file was read, so that the next reading takes only what was appended.

A reader of a format that is only ever appended to has, beside `read(path)`,

    resume(path, mark) -> Generator[Tables, None, Mark | None]

which yields what stands behind `mark` (None: everything, as `read`) and returns the mark for the next time (None: this
file cannot be resumed). The rows of the file are then `kept` rows of each table of the earlier reading followed by the
new ones; `sessions` is given whole each time. That must be the same, row for row, as reading the grown file at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class StartAgainError(Exception):
    """What was appended changes how the earlier part is to be read: the file must be read from its beginning."""


@dataclass(frozen=True)
class Mark:
    """`offset` bytes are read for good, which gave `kept` rows of each table (by name; a table that is not named keeps
    none). Rows beyond them came from an unfinished end, which is read again. `state` is what the reader must remember,
    as plain JSON.
    """

    offset: int
    kept: Mapping[str, int]
    state: Mapping[str, Any]
