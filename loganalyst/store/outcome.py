"""The result for one run of a store."""

from typing import Literal, NamedTuple


class Outcome(NamedTuple):
    """What happened to one run (`run` is its id): `read`, `unchanged`, `judged`, `reported` (its report was written),
    `copy` (left out; `why` is the file it is a copy of), or `failed` with the reason. `points` counts the points of a
    run that was just read.
    """

    path: str
    what: Literal["read", "unchanged", "judged", "reported", "copy", "failed"]
    why: str = ""
    points: int = 0
    run: str = ""
