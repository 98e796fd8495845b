"""The inputs of every feature family: the tables of a run, its curves by role, and the findings on them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst import signals
from loganalyst.blame.processstates import process_states
from loganalyst.blame.rootline import judged_session, session_roots
from loganalyst.blame.survival import outlived
from loganalyst.curves import axes
from loganalyst.curves.trainers import Trainer
from loganalyst.curves.trainingkind import stated_kind, training_kind
from loganalyst.model import TRAINING_KINDS, Curve, Feature, FeatureValue, ProcessState, Run, TrainingKind, Witness
from loganalyst.signals import Convergence, Gap, Schedule, Shape
from loganalyst.thresholds import feature_limit, verdict_limit

MIN_TAIL_POINTS = 5  # values of the last tenth that have a level
MIN_RATINGS = 10  # values of a skill rating that show whether it rose
MAX_RANKED_VALUES = 200  # values that Kendall's tau compares pair by pair; of longer series every k-th is taken

# a part of a key that belongs to held-out data: `val_dataloader.shuffle`, `eval.max_iters`
OF_HELD_OUT = re.compile(r"(?:^|_)(?:val|valid|validation|eval|evaluation|test|dev|predict|inference)(?:$|_)")

Value = FeatureValue | tuple[FeatureValue, Witness]
Computed = dict[str, Value]


@dataclass(frozen=True)
class Context:
    """The inputs of every `compute(context)`: all `curves`, the table of `findings` that the signals wrote, and the
    `trainer` of the run if one is recognised.
    """

    run: Run
    curves: Sequence[Curve]
    findings: pl.DataFrame
    trainer: Trainer | None = None
    _shapes: dict[str, Shape] = field(default_factory=dict)
    _quanta: dict[str, float] = field(default_factory=dict)
    _schedules: dict[str, Schedule] = field(default_factory=dict)

    def shape(self, curve: Curve) -> Shape:
        """The shape of the curve with lower = better; where harm is down (a reward), of the negated values."""
        if curve.metric not in self._shapes:
            sign = -1.0 if curve.role.worse == "down" else 1.0
            self._shapes[curve.metric] = signals.shape(sign * curve.values)
        return self._shapes[curve.metric]

    def quantum(self, curve: Curve) -> float:
        """The smallest step between the rounded values of the curve; 0 in full precision. All-zero values have that of
        the other curves of their file, if each of these is rounded.
        """
        if curve.metric not in self._quanta:
            own = curve.values.any()  # NaN counts as a value
            self._quanta[curve.metric] = signals.quantum(curve.values) if own else self._quantum_of_file(curve)
        return self._quanta[curve.metric]

    def _quantum_of_file(self, curve: Curve) -> float:
        others = (c for c in self.curves if c.source == curve.source and c.values.any())
        return min((signals.quantum(c.values) for c in others if not _is_whole(c.values)), default=0.0)

    def counts_as_zero(self, curve: Curve, usual: float | None = None) -> bool:
        """Whether a value of 0 is known to be next to nothing relative to the `usual` size (None: the median of the other
        values). A `0.000` among values like 0.004 is not.
        """
        if usual is None:
            size = np.abs(curve.values[np.isfinite(curve.values) & (curve.values != 0)])
            usual = median(size) if size.size else 0.0
        return self.quantum(curve) / 2 <= feature_limit("rounded_zero") * usual

    def gap(self, train: Curve | None, val: Curve) -> Gap:
        """The gap between validation and training curve; without a training curve, the validation curve alone."""
        if train is None:
            return signals.gap([], [], val.steps, val.values)
        train_steps, val_steps = axes.common_axis(train, val, self.with_role("epoch"))
        found = signals.gap(train_steps, train.values, val_steps, val.values)
        if not self.comparable(train, val):
            return replace(found, final_ratio=None, best_ratio=None, widening=None, onset_index=None)
        return found

    def comparable(self, train: Curve, val: Curve) -> bool:
        """Whether both losses may have the same scale. A training loss that is far above the held-out loss at every
        evaluation is a sum where the other is a mean: neither dropout nor augmentation costs as much. A held-out loss may
        also consist of one term of the training loss.
        """
        train_steps, val_steps = axes.common_axis(train, val, self.with_role("epoch"))
        if not train_steps.size or val_steps.size < feature_limit("losses_of_other_scale_evaluations"):
            return True
        latest = train.values[np.maximum(np.searchsorted(train_steps, val_steps, side="right") - 1, 0)]
        other_scale = ((val.values > 0) & (latest > feature_limit("losses_of_other_scale") * val.values)).all()
        return not bool(other_scale) and not self._is_of_a_term(train, val)

    def _is_of_a_term(self, train: Curve, val: Curve) -> bool:
        """Whether the held-out loss ends at the reconstruction term, far below the total: it has only this term."""
        total, held_out = last_level(train.values), last_level(val.values)
        term = next((last_level(curve.values) for curve in self.with_role("recon_loss")), None)
        if total is None or held_out is None or term is None or not 0 < held_out < total:
            return False
        tolerance = feature_limit("same_level")
        return abs(held_out - term) < tolerance * held_out and total > (1 + tolerance) * max(held_out, term)

    def schedule(self, curve: Curve) -> Schedule:
        """The description of a learning-rate curve."""
        if curve.metric not in self._schedules:
            self._schedules[curve.metric] = signals.schedule(curve.steps, curve.values)
        return self._schedules[curve.metric]

    def convergence(self, curve: Curve) -> Convergence | None:
        """How a falling curve converges; None where it does not fall."""
        return signals.convergence(curve.steps, curve.values)

    def with_role(self, *roles: str) -> list[Curve]:
        """The curves of the given roles that have values, longest first. Among equals, names with "loss" come first,
        then short names.
        """
        chosen = sorted(chain.from_iterable(self._by_role.get(role, ()) for role in set(roles)), key=itemgetter(0))
        return [curve for _, curve in chosen]

    @cached_property
    def _by_role(self) -> Mapping[str, Sequence[tuple[tuple[int, bool, int, int], Curve]]]:
        """The curves with values by role, each with its sort key."""
        found: dict[str, list[tuple[tuple[int, bool, int, int], Curve]]] = {}
        for i, c in enumerate(self.curves):
            if len(c.values):
                place = (-len(c.values), "loss" not in c.metric.lower(), len(c.metric), i)
                found.setdefault(c.role.name, []).append((place, c))
        return found

    @property
    def predicts(self) -> bool:
        """Whether the run learns to predict: it logs a training accuracy, and no reward or loss of an agent."""
        agent = self.with_role("reward", "value_loss", "rl_loss", "policy_loss")
        return bool(self.with_role("train_accuracy")) and not agent

    def policy_entropy(self) -> list[Curve]:
        """The entropy curves of a policy; those of predictions are left out."""
        return [] if self.predicts else self.with_role("entropy")

    def solved(self) -> list[Curve]:
        """The success rates of an agent. Beside a training accuracy they are one more score of predictions."""
        return [] if self.predicts else self.with_role("success_rate")

    def until_nonfinite(self, curve: Curve) -> NDArray[np.float64]:
        """The values before a loss of training became NaN or infinite for good: broken weights give values that mean
        nothing. All values where none did.
        """
        for loss in self.with_role("train_loss", "generator_loss", "discriminator_loss"):
            finite = np.flatnonzero(np.isfinite(loss.values))
            if finite.size and finite[-1] + 1 < len(loss.values):
                return np.asarray(curve.values[curve.steps < loss.steps[finite[-1] + 1]], dtype=np.float64)
        return curve.values

    def main_reward(self) -> Curve | None:
        """The reward that stands for the run: one that is a mean before others, then the longest. Without a reward, the
        only term of one, else the success rate. In self-play it is the rating: against an equal opponent, a better policy gets no higher reward.
        """
        means = ("mean", "avg", "average", "cumulative")
        ratings = [c for c in self.with_role("skill_rating") if len(c.values) >= MIN_RATINGS]
        terms = self.with_role("reward_component")
        curves = ratings or self.with_role("reward") or (terms if len(terms) == 1 else []) or self.solved()
        return max(curves, key=lambda c: (any(w in c.metric.lower() for w in means), len(c.values)), default=None)

    def random_actions(self) -> Curve | None:
        """The share of random actions; other exploration settings have other scales."""
        names = ("epsilon", "exploration_rate")
        return next((c for c in self.with_role("exploration") if any(name in c.metric.lower() for name in names)), None)

    def findings_on(self, kinds: str | Sequence[str], *roles: str) -> pl.DataFrame:
        """The findings of the given kinds on curves of the given roles, in step order."""
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        if self._kinds_by_role.isdisjoint(product(kinds, roles)):  # the usual case, and a query costs time
            return self.findings.clear()
        return self.findings.filter(pl.col("kind").is_in(kinds), pl.col("role").is_in(roles)).sort("step")

    @cached_property
    def lines(self) -> pl.DataFrame:
        """The relevant lines of all job logs, with the faults that the run survived (`loganalyst.blame.survival`)."""
        return outlived(self.run)

    @cached_property
    def roots(self) -> Mapping[int, Mapping[str, Any] | None]:
        """The root-cause line of each session (`loganalyst.blame.rootline`)."""
        return session_roots(self.run, self.lines)

    @cached_property
    def processes(self) -> tuple[ProcessState, ...]:
        """The processes of the last start (`loganalyst.blame.processstates`)."""
        if self.lines.is_empty():
            return ()
        session = judged_session(self.run)
        return process_states(self.run, self.lines, session, self.roots.get(session))

    @cached_property
    def training_kind(self) -> TrainingKind | None:
        """The kind of training; None where nothing suggests one."""
        kind, probability = (self.run.given.get(f"training_kind{end}") for end in ("", "_probability"))
        stated = next((name for name in TRAINING_KINDS if name == kind), None)
        if stated and isinstance(probability, float):
            found: TrainingKind | None = stated_kind(stated, probability)
        else:
            found = training_kind(self.run, {curve.role.name for curve in self.curves}, self.trainer)
        return found and replace(found, sure=found.probability >= verdict_limit("kind_sure"))

    @cached_property
    def _kinds_by_role(self) -> frozenset[tuple[str, str]]:
        """The kinds and roles of all findings."""
        return frozenset(zip(self.findings["kind"], self.findings["role"], strict=True))

    def number(self, *keys: str) -> float | None:
        """The first numeric setting whose dotted key ends in one of `keys` (tried in their order), or None."""
        numbers = self._settings[0]
        return next((numbers[key] for key in keys if key in numbers), None)

    def text(self, *keys: str) -> str | None:
        """The first setting, as text, whose dotted key is or ends in one of `keys` (tried in their order), or None."""
        texts = self._settings[1]
        return next((texts[key] for key in keys if texts.get(key) is not None), None)

    @cached_property
    def _settings(self) -> tuple[dict[str, float], dict[str, str | None]]:
        """The first number and the first text for every ending of the dotted keys, in lower case. Families look up some
        hundred keys, and each filter of the table would take a millisecond.
        """
        numbers, texts = dict[str, float](), dict[str, str | None]()
        for key, value, number in self.run.config.select("key", "value", "number").drop_nulls("key").iter_rows():
            for end in _ends(key.lower().split(".")):
                texts.setdefault(end, value)
                if number is not None:
                    numbers.setdefault(end, number)
        return numbers, texts


def _ends(parts: list[str]) -> Iterator[str]:
    """The endings of a dotted key. Below a part of held-out data, only those with this part: `eval.max_iters` is no
    `max_iters` of the training.
    """
    for i in range(len(parts)):
        yield ".".join(parts[i:])
        if i < len(parts) - 1 and OF_HELD_OUT.search(parts[i]):
            return


def witness_at(curve: Curve, at: int | None = None) -> Witness:
    """The witness of the curve's point at position `at`, or without `at` of the whole curve (no step)."""
    if at is None:
        return Witness(curve.metric, file=curve.source)
    line = int(curve.lines[at])
    return Witness(curve.metric, int(curve.steps[at]), curve.source, line if line >= 0 else None)


def first_witness(found: pl.DataFrame) -> Witness:
    """The witness of the earliest finding."""
    row = found.row(0, named=True)
    return Witness(row["metric"], row["step"], row["file"], row["line"])


def event(name: str, searched: bool, found: pl.DataFrame) -> Computed:
    """The two features of an event: `<name>_count` and `<name>_step` of the first. Nothing if the run could not be
    `searched`.
    """
    if not searched:
        return {}
    if not found.height:
        return {f"{name}_count": 0}
    witness = first_witness(found)
    return {f"{name}_count": (found.height, witness), f"{name}_step": (witness.step, witness)}


def event_features(name: str, meaning: str, needs: str) -> tuple[Feature, Feature]:
    """The declarations of the two features of an event."""
    return (
        Feature(f"{name}_count", "int", "events", f"{meaning}: how many (0 = none found)", needs),
        Feature(f"{name}_step", "int", "step", f"{meaning}: step of the first", needs),
    )


def _is_whole(values: NDArray[np.float64]) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite == np.rint(finite)).all())


def median(x: NDArray[np.float64]) -> float:
    """The median of at least one number; NaN if one is NaN. On short arrays numpy's own takes ten times as long."""
    ordered = np.sort(x)
    half = ordered.size // 2
    middle = ordered[half] if ordered.size % 2 else (ordered[half - 1] + ordered[half]) / 2
    return float(middle if ordered[-1] == ordered[-1] else ordered[-1])


def last_level(values: NDArray[np.float64]) -> float | None:
    """Median of the last tenth of the finite values (at least one value), a logged value; None if there is none."""
    finite = values[np.isfinite(values)]
    return logged_near(values, median(finite[-max(1, finite.size // 10) :])) if finite.size else None


def last_share(values: NDArray[np.float64]) -> float | None:
    """Median of the last tenth of the finite values, and of five at least: shares of small batches jump.

    >>> last_share(np.array([0.0, 0.5, 0.5, 0.5, 0.0, 0.5, 1.0]))
    0.5
    """
    finite = values[np.isfinite(values)]
    return median(finite[-max(MIN_TAIL_POINTS, finite.size // 10) :]) if finite.size else None


def logged_near(values: NDArray[np.float64], level: float | None) -> float | None:
    """The latest logged value of the last tenth that is nearest to a `level` of it, because reports show logged values.

    Fewer than MIN_TAIL_POINTS values have no level of their own: the last value stands for them.
    """
    finite = values[np.isfinite(values)]
    if level is None or not finite.size:
        return level
    tail = finite[: -max(1, finite.size // 10) - 1 : -1]
    return float(tail[np.argmin(np.abs(tail - level)) if tail.size >= MIN_TAIL_POINTS else 0])


def lowest_index(values: NDArray[np.float64]) -> int | None:
    """Position of the first lowest finite value; None if no value is finite."""
    return int(np.argmin(np.where(np.isfinite(values), values, np.inf))) if np.isfinite(values).any() else None


def first_level(values: NDArray[np.float64]) -> float | None:
    """Median of the first three finite values, where nothing has been learned yet; None if there is none."""
    finite = values[np.isfinite(values)]
    return median(finite[:3]) if finite.size else None


def tau(values: NDArray[np.float64], min_values: int) -> float | None:
    """Kendall's tau (1938) of at most MAX_RANKED_VALUES finite values against their order; None for fewer than
    `min_values`.
    """
    x = values[np.isfinite(values)]
    if x.size < min_values:
        return None
    x = x[:: -(-x.size // MAX_RANKED_VALUES)]
    return float(np.sign(x[None, :] - x[:, None])[np.triu_indices(x.size, 1)].mean())


def minus(x: float | None) -> float | None:
    """The number with the other sign; None where it is not known."""
    return None if x is None else 0.0 - x  # 0, never -0


def ratio(a: float | None, b: float | None) -> float | None:
    """The quotient a / b; None where one of them is not known or b is 0."""
    return None if a is None or b is None or b == 0 else a / b
