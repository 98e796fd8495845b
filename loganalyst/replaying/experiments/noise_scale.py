"""Measures how much of a step's gradient is noise: the gradient-noise scale relative to the batch.

The simple noise scale of McCandlish et al. 2018, An empirical model of large-batch training (arXiv:1812.06162), with
its estimator from two batch sizes (appendix A.1): single steps, and all of them together.
"""

import math
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.batchtensors import size
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `noise`, `balanced`, `signal`, by the noise scale in units of the data of one step."""
    steps = int(bench.limits["steps"])
    single, joined = _squares(bench, seed, steps)
    if not math.isfinite(single + joined) or single == 0:
        return Measured(INCONCLUSIVE, "gradients at the checkpoint are 0 or not finite", start=bench.start)
    noise = (single - joined) * steps / (steps - 1)
    signal = (steps * joined - single) / (steps - 1)
    ratio = noise / signal if signal > 0 else math.inf
    samples = size(bench.batch(bench.start * bench.spec.accumulate))
    batch = f"{samples * bench.spec.accumulate:,} samples" if samples else "data"
    amount = f"{ratio:.3g} times" if math.isfinite(ratio) else f"more than {steps} times"
    text = f"the gradient-noise scale is {amount} the {batch} of a step"
    outcome = "noise" if ratio >= bench.limits["noise"] else "signal" if ratio <= bench.limits["signal"] else "balanced"
    values = {"ratio": ratio, "noise": noise, "signal": signal, "samples": samples}
    return Measured(outcome, text, values=values, start=bench.start)


def _squares(bench: Bench, seed: int, steps: int) -> tuple[float, float]:
    """The mean squared gradient norm of a step at the checkpoint, and the squared norm of the mean gradient."""
    bench.restore(seed)
    parameters = [p for p in bench.model.parameters() if p.requires_grad]
    total: list[Any] = [p.detach().float() * 0 for p in parameters]
    squares = 0.0
    for i in range(steps):
        squares += bench.gradient(bench.start + i)[2] ** 2 / steps
        for mean, parameter in zip(total, parameters, strict=True):
            if parameter.grad is not None:
                mean.add_(parameter.grad.to_dense(), alpha=1 / steps)
    return squares, sum(float((mean * mean).sum()) for mean in total)
