"""A run beside another: what is different, and where their curves part."""

from dataclasses import dataclass
from typing import Literal

from loganalyst.model.shortrepr import Short

Way = Literal["up", "down"]
Direction = Literal["worse", "better", "above", "below"]


@dataclass(frozen=True)
class Change:
    """What differs between two runs: a setting (dotted key) or a logged rate (its metric), as logged in either (None:
    not there). `kind` is one of rules/changes.yaml, `way` is told of numbers.
    """

    key: str
    kind: str
    section: Literal["config", "code", "versions", "place"]
    before: str | None
    after: str | None
    way: Way | None = None


@dataclass(frozen=True)
class Parted:
    """A metric that both runs logged and that parts from the baseline's at `step`: in which direction and by how many
    standard errors (`effect`). From `final_step` on it is apart to the end (None: not at the end any more), `ours` and
    `theirs` are the levels there, and up to `equal_until` all values are the same.
    """

    metric: str
    role: str
    step: int
    direction: Direction
    effect: float
    final_step: int | None
    final_direction: Direction | None
    ours: float
    theirs: float
    equal_until: int | None = None


@dataclass(frozen=True)
class Suspect:
    """The change most likely responsible: a cause of the run names it, or it is the only one, or it comes first of
    those that are known to matter.
    """

    change: Change
    basis: Literal["named", "only", "ranked"]
    why: str


@dataclass(frozen=True, repr=False)
class Baseline(Short):
    """A run beside the one it is compared with: what was changed (what matters most first), which metrics part, the
    first first, and which stay `together`; the suspect, or why there is none.
    """

    id: str
    path: str
    name: str
    status: str
    changes: tuple[Change, ...] = ()
    parted: tuple[Parted, ...] = ()
    together: tuple[str, ...] = ()
    suspect: Suspect | None = None
    unknown: str = ""
    not_logged: tuple[str, ...] = ()
