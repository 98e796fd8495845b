"""What a feature family may look at: one run's tables, its curves by role, and the findings on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst import signals
from loganalyst.blame.rootline import session_roots
from loganalyst.blame.survival import outlived
from loganalyst.curves import axes
from loganalyst.model import Curve, Feature, FeatureValue, Run, Witness
from loganalyst.signals import Convergence, Gap, Schedule, Shape
from loganalyst.thresholds import feature_limit

MOST = 200  # values whose order is told from all pairs

Value = FeatureValue | tuple[FeatureValue, Witness]
Computed = dict[str, Value]


@dataclass(frozen=True)
class Context:
    """Inputs of every `compute(context)`. `curves` holds all curves, `findings` the table signals wrote."""

    run: Run
    curves: Sequence[Curve]
    findings: pl.DataFrame
    _shapes: dict[str, Shape] = field(default_factory=dict)

    def shape(self, curve: Curve) -> Shape:
        """The curve's shape with lower = better: where harm is down (a reward) the negated values are described."""
        if curve.metric not in self._shapes:
            sign = -1.0 if curve.role.worse == "down" else 1.0
            self._shapes[curve.metric] = signals.shape(sign * curve.values)
        return self._shapes[curve.metric]

    def gap(self, train: Curve | None, val: Curve) -> Gap:
        """The validation curve beside the training curve (by itself where there is none)."""
        if train is None:
            return signals.gap([], [], val.steps, val.values)
        ours, theirs = axes.common(train, val, self.of("epoch"))
        found = signals.gap(ours, train.values, theirs, val.values)
        if not self.comparable(train, val):
            return replace(found, final_ratio=None, best_ratio=None, widening=None, onset_index=None)
        return found

    def comparable(self, train: Curve, val: Curve) -> bool:
        """Whether both losses may be of one scale. A training loss that is FAR times the held-out one at every
        evaluation is the sum over what the other is the mean of: neither dropout nor augmentation costs as much.
        """
        ours, theirs = axes.common(train, val, self.of("epoch"))
        if not ours.size or theirs.size < feature_limit("losses_of_other_scale_evaluations"):
            return True
        beside = train.values[np.maximum(np.searchsorted(ours, theirs, side="right") - 1, 0)]
        return not bool(((val.values > 0) & (beside > feature_limit("losses_of_other_scale") * val.values)).all())

    def schedule(self, curve: Curve) -> Schedule:
        """What the learning-rate curve does."""
        return signals.schedule(curve.steps, curve.values)

    def convergence(self, curve: Curve) -> Convergence | None:
        """How a falling curve converges, or None where it does not fall."""
        return signals.convergence(curve.steps, curve.values)

    def of(self, *roles: str) -> list[Curve]:
        """The curves of the given roles that have values, most first; of equals the one called a loss, then the shorter name."""
        chosen = sorted(chain.from_iterable(self._of_role.get(role, ()) for role in set(roles)), key=itemgetter(0))
        return [curve for _, curve in chosen]

    @cached_property
    def _of_role(self) -> Mapping[str, Sequence[tuple[tuple[int, bool, int, int], Curve]]]:
        """The curves that have values by their roles, each with what places it among others."""
        found: dict[str, list[tuple[tuple[int, bool, int, int], Curve]]] = {}
        for i, c in enumerate(self.curves):
            if len(c.values):
                place = (-len(c.values), "loss" not in c.metric.lower(), len(c.metric), i)
                found.setdefault(c.role.name, []).append((place, c))
        return found

    def policy_entropy(self) -> list[Curve]:
        """The entropies of a policy; beside an accuracy and without a reward they are those of predictions."""
        predicts = self.of("train_accuracy") and not self.of("reward", "success_rate", "value_loss", "rl_loss")
        return [] if predicts else self.of("entropy")

    def random_actions(self) -> Curve | None:
        """The share of random actions; other settings of exploration have other scales."""
        names = ("epsilon", "exploration_rate")
        return next((c for c in self.of("exploration") if any(name in c.metric.lower() for name in names)), None)

    def found(self, kinds: str | Sequence[str], *roles: str) -> pl.DataFrame:
        """The findings of one kind, or of some, on curves of the given roles, in step order."""
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        if self._kinds.isdisjoint(product(kinds, roles)):  # as of most: a query of each would cost
            return self.findings.clear()
        return self.findings.filter(pl.col("kind").is_in(kinds), pl.col("role").is_in(roles)).sort("step")

    @cached_property
    def lines(self) -> pl.DataFrame:
        """The lines of all job logs that tell something, and what was outlived of it (`loganalyst.blame.survival`)."""
        return outlived(self.run)

    @cached_property
    def roots(self) -> Mapping[int, Mapping[str, Any] | None]:
        """The line that states the root cause of each session (`loganalyst.blame.rootline`)."""
        return session_roots(self.run, self.lines)

    @cached_property
    def _kinds(self) -> frozenset[tuple[str, str]]:
        """Kind and role of each finding."""
        return frozenset(zip(self.findings["kind"], self.findings["role"], strict=True))

    def number(self, *keys: str) -> float | None:
        """The first numeric config value whose dotted key ends in one of `keys` (in their order), or None."""
        numbers = self._settings[0]
        return next((numbers[key] for key in keys if key in numbers), None)

    def text(self, *keys: str) -> str | None:
        """The first config value, as text, whose dotted key is or ends in one of `keys` (in their order), or None."""
        texts = self._settings[1]
        return next((texts[key] for key in keys if texts.get(key) is not None), None)

    @cached_property
    def _settings(self) -> tuple[dict[str, float], dict[str, str | None]]:
        """The first number and the first text by every end of their dotted keys, in lower case: families ask for some
        hundred keys, and a filter of the table costs a millisecond each.
        """
        numbers, texts = dict[str, float](), dict[str, str | None]()
        for key, value, number in self.run.config.select("key", "value", "number").drop_nulls("key").iter_rows():
            parts = key.lower().split(".")
            for end in (".".join(parts[i:]) for i in range(len(parts))):
                texts.setdefault(end, value)
                if number is not None:
                    numbers.setdefault(end, number)
        return numbers, texts


def seen(curve: Curve, at: int | None = None) -> Witness:
    """The witness of the curve's point at position `at`; of the curve as a whole (no step) without one."""
    if at is None:
        return Witness(curve.metric, file=curve.source)
    line = int(curve.lines[at])
    return Witness(curve.metric, int(curve.steps[at]), curve.source, line if line >= 0 else None)


def first_of(found: pl.DataFrame) -> Witness:
    """The witness of the earliest finding."""
    row = found.row(0, named=True)
    return Witness(row["metric"], row["step"], row["file"], row["line"])


def event(name: str, looked: bool, found: pl.DataFrame) -> Computed:
    """The two features of an event: `<name>_count` (None: could not look) and `<name>_step` of the first."""
    if not looked:
        return {}
    if not found.height:
        return {f"{name}_count": 0}
    witness = first_of(found)
    return {f"{name}_count": (found.height, witness), f"{name}_step": (witness.step, witness)}


def event_features(name: str, meaning: str, needs: str) -> tuple[Feature, Feature]:
    """Declarations of an event's two features."""
    return (
        Feature(f"{name}_count", "int", "events", f"{meaning}: how many (0 = none found)", needs),
        Feature(f"{name}_step", "int", "step", f"{meaning}: step of the first", needs),
    )


def median(x: NDArray[np.float64]) -> float:
    """The median of at least one number, NaN where one is; numpy's own costs ten times as much for a few."""
    ordered = np.sort(x)
    half = ordered.size // 2
    middle = ordered[half] if ordered.size % 2 else (ordered[half - 1] + ordered[half]) / 2
    return float(middle if ordered[-1] == ordered[-1] else ordered[-1])


def last_level(values: NDArray[np.float64]) -> float | None:
    """Median of the last tenth of the finite values (at least one), None where there is none."""
    finite = values[np.isfinite(values)]
    return median(finite[-max(1, finite.size // 10) :]) if finite.size else None


def first_level(values: NDArray[np.float64]) -> float | None:
    """Median of the first three finite values: where the run began, before anything was learned; None where there is none."""
    finite = values[np.isfinite(values)]
    return median(finite[:3]) if finite.size else None


def tau(values: NDArray[np.float64], fewest: int) -> float | None:
    """Kendall's tau (1938) of the finite ones of at most MOST values against their order; None of less than `fewest`."""
    x = values[np.isfinite(values)]
    if x.size < fewest:
        return None
    x = x[:: -(-x.size // MOST)]
    return float(np.sign(x[None, :] - x[:, None])[np.triu_indices(x.size, 1)].mean())


def ratio(a: float | None, b: float | None) -> float | None:
    """Quotient a / b, None where either is not known or b is 0."""
    return None if a is None or b is None or b == 0 else a / b
