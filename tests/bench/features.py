"""CPU time of curves, signals and features, from the points of a run to its row of features, and of every family.

    python -m tests.bench.features [--repeat N]

Seconds are user + system time of one process, the least of N times. Each figure stands beside its target.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from loganalyst import features, signals
from loganalyst.curves import roles
from loganalyst.curves.effective import curves
from loganalyst.features.context import Context
from loganalyst.model import Curve, Run, Source, table

ROLES = (
    "loss", "val_loss", "lr", "grad_norm", "train_acc", "val_acc", "loss_cls", "loss_box",
    "kl", "recon_loss", "samples_per_second", "data_time", "entropy_of_codes", "gpu_mem", "epoch_time",
    "bleu", "param_norm", "step_time", "loss_obj", "memory_used",
)  # fmt: skip
RUNS = (
    ("12 curves of 5,000 points", 12, 5_000, 0.4),
    ("20 curves of 5,000 points", 20, 5_000, 0.25),
    ("1,000 tags of 100 points", 1_000, 100, 2.0),
    ("1,000 tags of 1,000 points", 1_000, 1_000, None),
    ("12 curves of 1,000,000 points", 12, 1_000_000, None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    for title, count, points, target in RUNS:
        run = simulated(count, points)
        spent = {name: least(step, args.repeat) for name, step in steps(run).items()}
        total = spent["curves"] + spent["signals"] + spent["features"]
        wanted = f"target {target:g} s {'met' if total <= target else 'MISSED'}" if target else ""
        print(f"{title}: {total:.3f} s CPU  {wanted}")
        print("   ", "  ".join(f"{name} {s * 1e3:.0f} ms" for name, s in spent.items() if s >= 1e-3))


def steps(run: Run) -> dict[str, Callable[[], object]]:
    """What is timed, by name: the three steps, then each family of features by itself."""
    found = chart(run)
    findings, _ = signals.find(found)

    def fresh() -> Context:
        return Context(run, found, findings)

    families = {f.__name__.split(".")[-1]: (lambda f=f: f.compute(fresh())) for f in features.families()}
    return {
        "curves": lambda: chart(run),
        "signals": lambda: signals.find(found),
        "features": lambda: features.compute(fresh()),
        **families,
    }


def chart(run: Run) -> list[Curve]:
    return curves(run, roles.assign(run.points["metric"].unique(maintain_order=True)))


def least(step: Callable[[], object], repeat: int) -> float:
    """CPU seconds of the fastest of `repeat` times."""
    spent = []
    for _ in range(repeat):
        begin = time.process_time()
        step()
        spent.append(time.process_time() - begin)
    return min(spent)


def simulated(count: int, points: int) -> Run:
    """`count` metrics over the same steps: falling curves with autocorrelated noise, under names of all kinds."""
    rng = np.random.default_rng(0)
    step = np.arange(points)
    tables = []
    for i in range(count):
        name = ROLES[i % len(ROLES)] if i < len(ROLES) else f"{ROLES[i % len(ROLES)]}/layer_{i // len(ROLES)}"
        noise = np.convolve(rng.normal(0, 0.05, points), [0.6, 0.3, 0.1], "same")
        value = 0.3 + 2 * (1 + step / max(points / 50, 1)) ** -0.5 + noise
        fields = {"session": 0, "metric": name, "step": step, "value": value, "source": "m.csv"}
        tables.append(table("points", fields))
    return Run(points=pl.concat(tables), sources=(Source("m.csv", "csv", 1),))


if __name__ == "__main__":
    main()
