"""What some steps of a training gave: losses, gradient norms, rates, a value a step."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

SCATTERS = 6  # a loss so many scatters above its level is a rise where the level itself is near 0


@dataclass(frozen=True)
class StepResult:
    """One step: the loss before it, its named components, the gradient's norm before clipping, the first rate."""

    loss: float
    norm: float
    rate: float
    components: Mapping[str, float]

    @property
    def finite(self) -> bool:
        """Whether the loss is."""
        return math.isfinite(self.loss)


@dataclass
class Trajectory:
    """Steps in order, from the training's step `start` on (counted from 0). It ends where the loss is not finite."""

    start: int
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    components: dict[str, list[float]] = field(default_factory=dict)

    def add(self, result: StepResult) -> None:
        """One more step."""
        for name, value in result.components.items():
            self.components.setdefault(name, [math.nan] * len(self.losses)).append(value)
        self.losses.append(result.loss)
        self.norms.append(result.norm)
        self.rates.append(result.rate)

    @property
    def nonfinite(self) -> int | None:
        """The training's step at which the loss was not finite."""
        return next((self.start + i for i, loss in enumerate(self.losses) if not math.isfinite(loss)), None)

    @property
    def peak(self) -> int | None:
        """The training's step of the highest loss, or of the first that is not finite."""
        if self.nonfinite is not None or not self.losses:
            return self.nonfinite
        return self.start + max(range(len(self.losses)), key=lambda i: self.losses[i])


@dataclass(frozen=True)
class Level:
    """At the checkpoint, before any step, over some batches: the median loss, its scatter, the median gradient norm."""

    loss: float
    scatter: float
    norm: float

    @classmethod
    def of(cls, losses: list[float], norms: list[float]) -> "Level":
        """Of the finite values; NaN where there is none."""
        kept, finite = [x for x in losses if math.isfinite(x)], [x for x in norms if math.isfinite(x)]
        middle = median(kept) if kept else math.nan
        scatter = 1.4826 * median(abs(x - middle) for x in kept) if kept else math.nan
        return cls(middle, scatter, median(finite) if finite else math.nan)

    def rise(self, trajectory: Trajectory) -> float:
        """The highest loss against this level: 1 is no rise, 2 twice the level; inf where a loss is not finite."""
        if trajectory.nonfinite is not None:
            return math.inf
        return max(map(self._rise, trajectory.losses), default=math.nan)

    def first(self, trajectory: Trajectory, rise: float) -> int | None:
        """The training's step of the first loss that rose so far."""
        return next((trajectory.start + i for i, x in enumerate(trajectory.losses) if self._rise(x) >= rise), None)

    def _rise(self, loss: float) -> float:
        if not math.isfinite(loss):
            return math.inf
        return 1 + max(loss - self.loss, 0.0) / max(abs(self.loss), SCATTERS * self.scatter, 1e-12)
