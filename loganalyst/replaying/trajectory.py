"""The result of some steps of a training: losses, gradient norms and rates, one value per step."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

RISE_SCATTERS = 6  # near a level of 0, a rise is measured in this many scatters instead of levels


@dataclass(frozen=True)
class StepResult:
    """One step: its loss, named components, gradient norm before clipping, and first learning rate."""

    loss: float
    norm: float
    rate: float
    components: Mapping[str, float]

    @property
    def finite(self) -> bool:
        """Whether the loss is finite."""
        return math.isfinite(self.loss)


@dataclass
class Trajectory:
    """Consecutive steps from the training's step `start` on (from 0), up to the first non-finite loss."""

    start: int
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    components: dict[str, list[float]] = field(default_factory=dict)

    def add(self, result: StepResult) -> None:
        """Add a step."""
        for name, value in result.components.items():
            self.components.setdefault(name, [math.nan] * len(self.losses)).append(value)
        self.losses.append(result.loss)
        self.norms.append(result.norm)
        self.rates.append(result.rate)

    @property
    def nonfinite(self) -> int | None:
        """The training's step with a non-finite loss, if any."""
        return next((self.start + i for i, loss in enumerate(self.losses) if not math.isfinite(loss)), None)

    @property
    def peak(self) -> int | None:
        """The training's step with the highest loss, or with the first non-finite one."""
        if self.nonfinite is not None or not self.losses:
            return self.nonfinite
        return self.start + max(range(len(self.losses)), key=lambda i: self.losses[i])


@dataclass(frozen=True)
class Level:
    """The level at the checkpoint over some batches: median loss, its scatter, median gradient norm."""

    loss: float
    scatter: float
    norm: float

    @classmethod
    def from_values(cls, losses: list[float], norms: list[float]) -> "Level":
        """The level of the finite values; NaN if there are none."""
        losses, norms = ([x for x in values if math.isfinite(x)] for values in (losses, norms))
        loss = median(losses) if losses else math.nan
        # 1.4826 times the median absolute deviation estimates the standard deviation of normal values
        scatter = 1.4826 * median(abs(x - loss) for x in losses) if losses else math.nan
        return cls(loss, scatter, median(norms) if norms else math.nan)

    def rise(self, trajectory: Trajectory) -> float:
        """The highest loss relative to this level: 1 is no rise, 2 twice the level, inf a non-finite loss."""
        if trajectory.nonfinite is not None:
            return math.inf
        return max(map(self._rise, trajectory.losses), default=math.nan)

    def first_rise(self, trajectory: Trajectory, rise: float) -> int | None:
        """The training's step of the first loss with at least this rise."""
        return next((trajectory.start + i for i, x in enumerate(trajectory.losses) if self._rise(x) >= rise), None)

    def _rise(self, loss: float) -> float:
        if not math.isfinite(loss):
            return math.inf
        return 1 + max(loss - self.loss, 0.0) / max(abs(self.loss), RISE_SCATTERS * self.scatter, 1e-12)
