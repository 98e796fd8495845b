"""Seeded synthetic training curves with known truth: the healthy kinds. Those with faults: `faulty_curves`."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """A curve, its noise-free form, the (index, kind) events in it, and indexes at which a change is benign.

    `steps` where they are not 0, 1, 2 …; `rate` where the learning rate was logged.
    """

    name: str
    values: Array
    clean: Array
    sigma: float
    events: tuple[tuple[int, str], ...] = ()
    benign: tuple[int, ...] = ()
    worse: str = "up"
    steps: Array | None = None
    rate: Array | None = None


@dataclass(frozen=True)
class Noise:
    """AR(1) noise of unit marginal variance, normal or Student-t with 3 degrees of freedom."""

    phi: float
    heavy: bool

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        from scipy.signal import lfilter

        e = rng.standard_t(3, n + 200) / np.sqrt(3) if self.heavy else rng.standard_normal(n + 200)
        return lfilter([np.sqrt(1 - self.phi**2)], [1, -self.phi], e)[200:]


def any_noise(rng: np.random.Generator) -> Noise:
    return Noise(float(rng.choice([0, 0.5, 0.9, 0.97])), bool(rng.random() < 0.4))


def decay(n: int, rng: np.random.Generator) -> Array:
    """An exponential or power-law learning curve from about 3 to 0.3."""
    t = np.arange(n)
    if rng.random() < 0.5:
        return 0.3 + 2.7 * np.exp(-t / (n * rng.uniform(0.08, 0.5)))
    t0 = n * rng.uniform(0.002, 0.05)
    return 0.3 + 2.7 * (1 + t / t0) ** -rng.uniform(0.3, 1.0)


def noisy(clean: Array, rng: np.random.Generator, noise: Noise) -> tuple[Array, Array, float]:
    """Values, the unit noise used, and the sd relative to the level (multiplicative noise)."""
    sigma = float(np.exp(rng.uniform(np.log(0.01), np.log(0.15))))
    unit = noise.draw(clean.size, rng)
    return clean * np.exp(sigma * unit), unit, sigma


# --- healthy


def smooth_decay(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    return Labelled("decay", values, clean, sigma)


def additive_decay(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    sigma = float(rng.uniform(0.005, 0.06))
    return Labelled("additive_decay", clean + sigma * any_noise(rng).draw(n, rng), clean, sigma / 0.3)


def small_batch(n: int, rng: np.random.Generator) -> Labelled:
    clean = np.full(n, 0.5) * np.exp(-np.arange(n) / n * rng.uniform(0, 0.5))
    return Labelled("small_batch", clean * np.exp(0.5 * Noise(0, False).draw(n, rng)), clean, 0.5)


def warmup_bump(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), n * rng.uniform(0.01, 0.04)
    clean = decay(n, rng) + rng.uniform(0.3, 1.5) * np.exp(-0.5 * ((t - at) / (at / 3)) ** 2)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    return Labelled("warmup_bump", values, clean, sigma, benign=(int(at * 0.3), int(at), int(at * 1.5)))


def lr_drop(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.3, 0.8))
    fall = np.where(t < at, 1.0, 1 - rng.uniform(0.1, 0.4) * (1 - np.exp(-(t - at) / (0.01 * n))))
    clean = decay(n, rng) * fall
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    return Labelled("lr_drop", values, clean, sigma, benign=(at, at + n // 100, at + n // 33))


def negative_loss(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng) - rng.uniform(1, 4)
    sigma = float(rng.uniform(0.01, 0.1))
    return Labelled("negative_loss", clean + sigma * any_noise(rng).draw(n, rng), clean, sigma)


def reward(n: int, rng: np.random.Generator) -> Labelled:
    clean = 200 * (1 - np.exp(-np.arange(n) / (n * rng.uniform(0.1, 0.6)))) - 50
    noise = rng.uniform(5, 30) * any_noise(rng).draw(n, rng)
    return Labelled("reward", clean + noise, clean, 0.1, worse="down")


def accuracy(n: int, rng: np.random.Generator) -> Labelled:
    clean = 0.1 + 0.8 / (1 + np.exp(-(np.arange(n) / n - rng.uniform(0.1, 0.4)) * rng.uniform(8, 25)))
    values = np.clip(clean + rng.uniform(0.005, 0.05) * Noise(0.5, False).draw(n, rng), 0, 1)
    return Labelled("accuracy", values, clean, 0.05, worse="down")


def oscillation(n: int, rng: np.random.Generator) -> Labelled:
    """A swing that lasts all run long, as a momentum near its limit or a replayed buffer makes it."""
    clean = decay(n, rng)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    swing = rng.uniform(1, 5) * sigma * np.sin(2 * np.pi * np.arange(n) / (n * rng.uniform(0.002, 0.03)))
    return Labelled("oscillation", values * np.exp(swing), clean, sigma)


def epochs(n: int, rng: np.random.Generator) -> Labelled:
    """A loss that falls a little at once whenever the data begin anew, and lies still between."""
    count = int(rng.integers(4, 12))
    clean = 2.5 * np.exp(-np.floor(np.arange(n) * count / n) * rng.uniform(0.005, 0.02) - np.arange(n) / n)
    values, _, sigma = noisy(clean, rng, Noise(0, False))
    return Labelled("epochs", values, clean, max(sigma, 0.05), benign=tuple(n * k // count for k in range(1, count)))


HEALTHY: tuple[Callable[[int, np.random.Generator], Labelled], ...] = (
    smooth_decay,
    additive_decay,
    small_batch,
    warmup_bump,
    lr_drop,
    negative_loss,
    reward,
    accuracy,
    oscillation,
    epochs,
)
