"""Tries to fit one batch: with the training's own steps, with larger ones, and from new weights."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE

HIGHER_RATES = (10, 100)


@dataclass(frozen=True)
class _Attempt:
    """One way to fit the batch: the outcome it means, its name, the loss of each step, and the loss to fall from."""

    outcome: str
    name: str
    losses: list[float]
    start: float

    @property
    def fall(self) -> float:
        """The share of `start` that is lost."""
        return _share_lost(self.start, self.losses)

    @property
    def usable(self) -> bool:
        """Whether there is something to learn: a loss that is 0 or not finite proves nothing."""
        return math.isfinite(self.start) and self.start != 0


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `learned`, `higher_rate`, `another_optimiser`, `afresh`, `not_learned`; the first that applies."""
    bench.level()  # finds out how far batches must be split
    made: list[_Attempt] = []
    for done in _attempts(bench, seed, made):
        made.append(done)
        # if the training's own steps fit it, or are on the way, another way says nothing more
        if done.fall >= bench.limits["learned"] or made[0].fall >= bench.limits["stuck"]:
            break
    best = max(made, key=lambda done: done.fall)
    # if new weights fall, but not below the old ones, the old ones may be at the floor of the loss
    stuck = best.usable and all(_share_lost(done.losses[0], done.losses) < bench.limits["stuck"] for done in made)
    learned = best.fall >= bench.limits["learned"]
    outcome = best.outcome if learned else "not_learned" if stuck else INCONCLUSIVE
    falls = ", ".join(f"{done.fall:.0%} {done.name} ({len(done.losses)} steps)" for done in made)
    reproduced = None if outcome == INCONCLUSIVE else outcome != "learned"
    series, text = {done.name: done.losses for done in made}, f"the loss of one batch falls by {falls}"
    return Measured(outcome, text, reproduced, {"fall": best.fall}, series, bench.start)


def _attempts(bench: Bench, seed: int, made: list[_Attempt]) -> Iterator[_Attempt]:
    """The attempts in turn, each from the checkpoint; `made` lists the earlier ones."""
    index = bench.start * bench.spec.accumulate
    for factor in (1, *HIGHER_RATES):
        change = Change(rate=float(factor), batch=lambda _i: bench.spec.batch(index))
        bench.restore(seed)
        name = f"at {factor} times the rate" if factor > 1 else "with the training's own steps"
        yield _fit(bench, "higher_rate" if factor > 1 else "learned", name, partial(_training_step, bench, change))
    bench.restore(seed)
    yield _fit(bench, "another_optimiser", "with Adam", _adam(bench, index))
    # new weights begin with a high loss: only a gain on the lowest loss of the old weights counts
    lowest = min((done.losses[-1] for done in made if math.isfinite(done.losses[-1])), default=None)
    bench.restore(seed)
    _reinitialise(bench)
    yield _fit(bench, "afresh", "further with Adam from new weights", _adam(bench, index), lowest)


def _fit(bench: Bench, outcome: str, name: str, step: Callable[[], float], start: float | None = None) -> _Attempt:
    """Make steps until the batch is fitted, a loss is not finite, or the limit of steps is reached."""
    losses, max_steps = [step()], int(bench.limits["steps"])
    made = _Attempt(outcome, name, losses, losses[0] if start is None else start)
    while len(losses) < max_steps and math.isfinite(losses[-1]) and made.fall < bench.limits["learned"]:
        losses.append(step())
        bench.on_step(len(losses), max_steps)
    return made


def _share_lost(start: float, losses: list[float]) -> float:
    """The share of a loss that is lost; 0 if it rose or is not finite."""
    is_finite = math.isfinite(start) and all(map(math.isfinite, losses)) and start != 0
    return max((start - losses[-1]) / abs(start), 0.0) if is_finite else 0.0


def _training_step(bench: Bench, change: Change) -> float:
    return bench.step(bench.start, change).loss


def _adam(bench: Bench, index: int) -> Callable[[], float]:
    """A step of Adam on all parameters of the model, in float32."""
    import torch

    optimizer = torch.optim.Adam(bench.model.parameters(), lr=bench.limits["rate"])
    batch = bench.batch(index)

    def step() -> float:
        optimizer.zero_grad()
        total, _ = bench.forward(batch, Change(precision="float32"))
        total.backward()
        optimizer.step()
        return float(total.detach())

    return step


def _reinitialise(bench: Bench) -> None:
    """Reinitialise every module that can be."""
    for module in bench.model.modules():
        for name in ("reset_parameters", "_reset_parameters"):
            if hasattr(module, name):
                getattr(module, name)()
