"""Who moved first: how often the order of two onsets is told right, and whether the told probability holds.

    python -m tests.bench.onset_order [--runs N]

Runs are generated: a gradient norm and a training loss that leave their course at known steps, up to 8 % of the run
apart, in a jump, a ramp or exponentially, with noise of 1 to 8 %, each logged every 1 to 200 steps. The peer is the
order of the findings as they are, taken as certain.
"""

import argparse

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst import signals
from loganalyst.curves import roles
from loganalyst.curves.effective import curves
from loganalyst.features.context import Context
from loganalyst.features.onsets import onsets
from loganalyst.model import Run, Source, table

Logged = dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
SHAPES = ("jump", "ramp", "exponential")
BANDS = ((0.5, 0.7), (0.7, 0.9), (0.9, 0.98), (0.98, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    rows = [row for seed in range(parser.parse_args().runs) if (row := trial(seed)) is not None]
    sure, right, plain, inside = (np.array(column) for column in zip(*rows, strict=True))
    print(f"{len(rows)} runs with both onsets found; inside its interval {inside.mean():.1%} of the onsets")
    print(f"order right {right.mean():.1%}, by the findings alone {plain.mean():.1%}")
    for low, high in BANDS:
        some = (sure >= low) & (sure < high if high < 1 else sure <= high)
        share = right[some].mean() if some.any() else 0.0
        print(f"told with {low:.0%} to {high:.0%}: {some.sum():4} runs, right {share:.1%}")


def trial(seed: int) -> tuple[float, bool, bool, float] | None:
    """Confidence, whether the order is right, the same by the findings, share of onsets inside their intervals."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([600, 2000, 6000, 20000]))
    first = rng.uniform(0.3, 0.75) * n
    then = first + n * float(rng.choice([0.002, 0.01, 0.03, 0.08])) * int(rng.choice([-1, 1]))
    truth = {"grad_norm": first, "train/loss": then}
    logged = {m: _curve(rng, n, at, falls=m == "train/loss") for m, at in truth.items()}
    found = {o.metric: o for o in onsets(context(logged))}
    if len(found) < 2:
        return None
    grad, loss = found["grad_norm"], found["train/loss"]
    p, expected = grad.before(loss), first < then
    inside = np.mean([found[m].low <= at <= found[m].high for m, at in truth.items()])
    return max(p, 1 - p), (p > 0.5) == expected, (grad.found < loss.found) == expected, float(inside)


def context(logged: Logged) -> Context:
    """A run of these metrics (steps, values), with what the signals find in it."""
    frames = [
        table("points", {"session": 0, "metric": m, "step": steps, "value": values, "source": "m.csv"})
        for m, (steps, values) in logged.items()
    ]
    run = Run(points=pl.concat(frames), sources=(Source("m.csv", "csv", 1),))
    found = curves(run, roles.assign(logged))
    return Context(run, found, signals.find(found)[0])


def _curve(
    rng: np.random.Generator, n: int, at: float, *, falls: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    every = int(rng.choice([1, 2, 5, 10, max(1, n // 100)]))
    steps = np.arange(rng.integers(0, every), n, every)
    usual = 2 * np.exp(-steps / (n / 5)) + 0.5 if falls else np.ones(steps.size)
    since = np.clip(steps - at, 0, None) / n
    shape = str(rng.choice(SHAPES))
    factor = {
        "jump": np.where(steps >= at, rng.uniform(1.5, 8), 1.0),
        "ramp": 1 + since * rng.uniform(3, 15),
        "exponential": np.exp(np.minimum(since * rng.uniform(30, 100), 5)),
    }[shape]
    return steps, usual * factor * np.exp(rng.standard_normal(steps.size) * rng.uniform(0.01, 0.08))


if __name__ == "__main__":
    main()
