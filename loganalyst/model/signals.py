"""A run's metrics as curves, and the changes in them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loganalyst.model.shortrepr import Short

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# fmt: off
Kind = Literal[
    "level_up", "level_down", "slope", "variance", "spike", "periodic", "divergence", "plateau", "nonfinite", "restart",
    "lr_drop",
]
# fmt: on


@dataclass(frozen=True)
class Role:
    """What a metric is. `worse` is the direction of harm. `judged` says whether rules use the shape of its curve."""

    name: str
    meaning: str
    worse: Literal["up", "down"] | None
    judged: bool


OF_FILE = "::"  # in the name of a metric: separates the name of its file, if several files log the same name


@dataclass(frozen=True)
class Metric:
    """A metric of a run, with its role and the reason (the pattern or the user's correction).

    `role_confidence` is the probability that the role is right, 0 to 1; None where no role is known. If `role_unsure`,
    nothing confirms the role.
    """

    name: str
    role: str
    why: str
    points: int
    nonfinite: int
    role_confidence: float | None = None
    role_unsure: bool = False


@dataclass(frozen=True, repr=False)
class Curve(Short):
    """One metric over the effective history of a run: arrays of equal length n, in order of `steps`.

    `steps` int64, `values` float64 (NaN and ±Inf kept), `times` float64 seconds since the epoch (NaN: not known),
    `sessions` int32, `epochs` float64 (NaN: not known), `lines` int64 (-1: not known). `weight` is the factor of a loss
    term in the total, from the user's settings. `role_confidence` is the probability that the role is right (None: no
    role is known). `beside` counts the trainings beside its own in one file, such as other folds.
    """

    metric: str
    role: Role
    steps: "NDArray[np.int64]"
    values: "NDArray[np.float64]"
    times: "NDArray[np.float64]"
    epochs: "NDArray[np.float64]"
    sessions: "NDArray[np.int32]"
    lines: "NDArray[np.int64]"
    source: str | None = None
    weight: float = 1.0
    role_confidence: float | None = 1.0
    beside: int = 0


@dataclass(frozen=True)
class ChangePoint:
    """A change in one curve.

    `index` is the first point of the new regime (position in the given array), `end` its last (inclusive; None: it
    lasts to the end). `effect` is in robust standard deviations of the local noise; for `periodic` it is the period in
    points, for `nonfinite` the number of such points. `significance` is in 0..1 (1 = certain).

    >>> import loganalyst as la
    >>> change = la.signals.change_points([1.0, 0.9, 0.8, float("nan"), float("nan")], role="train_loss")[0]
    >>> change.kind, change.index, change.effect
    ('nonfinite', 3, 2.0)
    """

    index: int
    end: int | None
    kind: Kind
    effect: float
    significance: float
