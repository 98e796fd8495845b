"""How often short series without a change show one, which is what the penalty of `signals.pieces` was set by.

    python -m tests.bench.plain_series [series per cell]

Autoregressive noise and random walks, normal or with heavy tails, with and without a straight trend; and what is found
of two level shifts of three and four noise units in the same noise.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from loganalyst.signals.segments import segments

LENGTHS = (60, 100, 300, 900)
PHI = (0.0, 0.3, 0.6, 0.9, 0.97, 1.0)
MARGIN = 5


def noise(n: int, phi: float, heavy: bool, rng: np.random.Generator) -> NDArray[np.float64]:
    from scipy.signal import lfilter

    e = rng.standard_t(3, n + 200) / np.sqrt(3) if heavy else rng.standard_normal(n + 200)
    return np.cumsum(e[200:]) / np.sqrt(n) if phi == 1 else lfilter([np.sqrt(1 - phi**2)], [1, -phi], e)[200:]


def main(each: int = 16) -> None:
    print("share of series without a change in which one is seen, and of two level shifts found within five points")
    print("autocorrelation " + "".join(f"   n = {n:<12}" for n in LENGTHS))
    for phi in PHI:
        cells = []
        for n in LENGTHS:
            alarms, hits = 0, 0
            for seed in range(each):
                rng = np.random.default_rng([seed, n, int(phi * 100)])
                y = noise(n, phi, bool(seed % 2), rng) + (seed % 4 >= 2) * np.linspace(0, rng.uniform(-6, 6), n)
                alarms += bool(segments(y))
                true = int(n * rng.uniform(0.2, 0.45)), int(n * rng.uniform(0.55, 0.8))
                t = np.arange(n)
                found = [c.index for c in segments(y + 3 * (t >= true[0]) - 4 * (t >= true[1]))]
                hits += sum(any(abs(a - b) <= MARGIN for b in found) for a in true)
            cells.append(f"   {alarms / each:.2f}  {hits / each / 2:.2f}     ")
        print(f"{phi:<16}" + "".join(cells))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
