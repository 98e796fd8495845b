"""Can one batch be learned by heart: with the training's own steps, with larger ones, and from new weights?"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE

HIGHER = (10, 100)


@dataclass(frozen=True)
class _Try:
    """One way to learn the batch: the outcome it stands for, its name, the loss of each step, and the loss that it has
    to fall from.
    """

    outcome: str
    name: str
    losses: list[float]
    start: float

    @property
    def fall(self) -> float:
        """The share of `start` that is gone."""
        return _gone(self.start, self.losses)

    @property
    def usable(self) -> bool:
        """Whether there is something to learn: of a loss that is 0 or not finite nothing can be said."""
        return math.isfinite(self.start) and self.start != 0


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `learned`, `higher_rate`, `another_optimiser`, `afresh`, `not_learned`; it stops at the first."""
    bench.level()  # it finds out what memory has room for
    made: list[_Try] = []
    for done in _tries(bench, seed, made):
        made.append(done)
        # the training's own steps learn it, or are on the way: then no other way says more
        if done.fall >= bench.limits["learned"] or made[0].fall >= bench.limits["stuck"]:
            break
    best = max(made, key=lambda done: done.fall)
    # where new weights fall, but not below the old ones, those may be at a floor of the loss
    stuck = best.usable and all(_gone(done.losses[0], done.losses) < bench.limits["stuck"] for done in made)
    learned = best.fall >= bench.limits["learned"]
    outcome = best.outcome if learned else "not_learned" if stuck else INCONCLUSIVE
    told = ", ".join(f"{done.fall:.0%} {done.name} ({len(done.losses)} steps)" for done in made)
    shown = None if outcome == INCONCLUSIVE else outcome != "learned"
    series, text = {done.name: done.losses for done in made}, f"the loss of one batch falls by {told}"
    return Measured(outcome, text, shown, {"fall": best.fall}, series, bench.start)


def _tries(bench: Bench, seed: int, made: list[_Try]) -> Iterator[_Try]:
    """One way after another, each from the checkpoint; `made` are those that were."""
    index = bench.start * bench.spec.accumulate
    for factor in (1, *HIGHER):
        change = Change(rate=float(factor), batch=lambda _i: bench.spec.batch(index))
        bench.fresh(seed)
        name = f"at {factor} times the rate" if factor > 1 else "with the training's own steps"
        yield _tried(bench, "higher_rate" if factor > 1 else "learned", name, partial(_own, bench, change))
    bench.fresh(seed)
    yield _tried(bench, "another_optimiser", "with Adam", _adam(bench, index))
    # new weights begin high: what they learn is what they gain on all that the old ones came to
    lowest = min((done.losses[-1] for done in made if math.isfinite(done.losses[-1])), default=None)
    bench.fresh(seed)
    _anew(bench)
    yield _tried(bench, "afresh", "further with Adam from new weights", _adam(bench, index), lowest)


def _tried(bench: Bench, outcome: str, name: str, step: Callable[[], float], start: float | None = None) -> _Try:
    """Steps until the batch is learned, a loss is not finite, or there have been enough."""
    losses, most = [step()], int(bench.limits["steps"])
    made = _Try(outcome, name, losses, losses[0] if start is None else start)
    while len(losses) < most and math.isfinite(losses[-1]) and made.fall < bench.limits["learned"]:
        losses.append(step())
        bench.told(len(losses), most)
    return made


def _gone(start: float, losses: list[float]) -> float:
    """The share of a loss that is gone; 0 where it rose or one is not finite, for nothing is learned then."""
    whole = math.isfinite(start) and all(map(math.isfinite, losses)) and start != 0
    return max((start - losses[-1]) / abs(start), 0.0) if whole else 0.0


def _own(bench: Bench, change: Change) -> float:
    return bench.step(bench.start, change).loss


def _adam(bench: Bench, index: int) -> Callable[[], float]:
    """A step of an ordinary optimiser of everything the model has, in float32."""
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


def _anew(bench: Bench) -> None:
    """Every module drawn as when it was made, where it can be."""
    for module in bench.model.modules():
        for name in ("reset_parameters", "_reset_parameters"):
            if hasattr(module, name):
                getattr(module, name)()
