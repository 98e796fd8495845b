"""A run compared with another: what differs, and where their curves diverge."""

from dataclasses import dataclass
from typing import Literal

from loganalyst.model.shortrepr import Short

Way = Literal["up", "down"]
Direction = Literal["worse", "better", "above", "below"]


@dataclass(frozen=True)
class Change:
    """A difference between two runs: a setting (dotted key) or a logged rate (its metric).

    `before` and `after` are the logged values (None: not logged). `kind` is a kind of rules/changes.yaml. `way` is the
    direction of a number.
    """

    key: str
    kind: str
    section: Literal["config", "code", "versions", "place"]
    before: str | None
    after: str | None
    way: Way | None = None


@dataclass(frozen=True)
class Parted:
    """A metric that both runs logged and that diverges from the baseline at `step`.

    `effect` is the distance in standard errors. From `final_step` on the curves differ to the end (None: they agree at
    the end). `ours` and `theirs` are the levels at the end. Up to `equal_until` all values are the same.
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
    """The change that is most likely responsible: a cause names it, it is the only one, or it matters most."""

    change: Change
    basis: Literal["named", "only", "ranked"]
    why: str


@dataclass(frozen=True, repr=False)
class Baseline(Short):
    """The baseline of a run: the changes since then, by how much they matter, and the metrics that diverge, by step.

    The metrics in `together` do not diverge. `suspect` is the responsible change, or `unknown` says why there is none.
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
