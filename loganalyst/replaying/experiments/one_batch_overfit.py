"""Can one batch be learned by heart: with the training's own steps, with larger ones, and from new weights?"""

import math
from collections.abc import Callable, Iterator

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.experiment import INCONCLUSIVE

HIGHER = (10, 100)


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `learned`, `higher_rate`, `another_optimiser`, `afresh`, `not_learned`; it stops at the first."""
    index, series, said = bench.start * bench.spec.accumulate, dict[str, list[float]](), list[str]()
    level = bench.level()  # it finds out what memory has room for
    fallen: list[float] = []
    for outcome, name, losses in _tries(bench, seed, index):
        series[name] = losses
        fallen.append(_fall(losses))
        said.append(f"{fallen[-1]:.0%} {name} ({len(losses)} steps)")
        if fallen[-1] >= bench.limits["learned"]:
            text = f"the loss of one batch falls by {', '.join(said)}"
            return Measured(outcome, text, outcome != "learned", {"fall": fallen[-1]}, series, bench.start)
    values = {"fall": max(fallen), "level": level.loss}
    outcome = "not_learned" if max(fallen) < bench.limits["stuck"] else INCONCLUSIVE
    text = f"the loss of one batch falls by {', '.join(said)}"
    return Measured(outcome, text, outcome == "not_learned" or None, values, series, bench.start)


def _tries(bench: Bench, seed: int, index: int) -> Iterator[tuple[str, str, list[float]]]:
    """Each way to learn the batch: the outcome it stands for, its name, the loss of each step."""

    def own(rate: float) -> list[float]:
        change = Change(rate=rate, batch=lambda _i: bench.spec.batch(index))
        return _losses(bench, lambda: bench.step(bench.start, change).loss)

    bench.fresh(seed)
    yield "learned", "with the training's own steps", own(1.0)
    for factor in HIGHER:
        bench.fresh(seed)
        yield "higher_rate", f"at {factor} times the rate", own(float(factor))
    bench.fresh(seed)
    yield "another_optimiser", "with Adam", _adam(bench, index)
    bench.fresh(seed)
    _anew(bench)
    yield "afresh", "with Adam from new weights", _adam(bench, index)


def _losses(bench: Bench, step: Callable[[], float]) -> list[float]:
    """Until it is learned, not finite, or out of steps."""
    losses: list[float] = []
    most = int(bench.limits["steps"])
    while len(losses) < most and (not losses or math.isfinite(losses[-1])):
        losses.append(step())
        bench.told(len(losses), most)
        if _fall(losses) >= bench.limits["learned"]:
            break
    return losses


def _fall(losses: list[float]) -> float:
    """The share of the first loss that is gone; 0 where one is not finite, for nothing is learned then."""
    whole = all(map(math.isfinite, losses)) and losses[0] != 0
    return (losses[0] - losses[-1]) / abs(losses[0]) if whole else 0.0


def _adam(bench: Bench, index: int) -> list[float]:
    """Of an ordinary optimiser of everything the model has, in float32."""
    import torch

    optimizer = torch.optim.Adam(bench.model.parameters(), lr=bench.limits["rate"])
    batch = bench.batch(index)

    def step() -> float:
        optimizer.zero_grad()
        total, _ = bench.forward(batch, Change(precision="float32"))
        total.backward()
        optimizer.step()
        return float(total.detach())

    return _losses(bench, step)


def _anew(bench: Bench) -> None:
    """Every module drawn as when it was made, where it can be."""
    for module in bench.model.modules():
        for name in ("reset_parameters", "_reset_parameters"):
            if hasattr(module, name):
                getattr(module, name)()
