"""Seeded synthetic training curves with known truth: healthy kinds and curves with one injected fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """A curve, its noise-free form, the (index, kind) events in it, and indexes at which a change is benign."""

    name: str
    values: Array
    clean: Array
    sigma: float
    events: tuple[tuple[int, str], ...] = ()
    benign: tuple[int, ...] = ()
    worse: str = "up"


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


def _noisy(clean: Array, rng: np.random.Generator, noise: Noise) -> tuple[Array, Array, float]:
    """Values, the unit noise used, and the sd relative to the level (multiplicative noise)."""
    sigma = float(np.exp(rng.uniform(np.log(0.01), np.log(0.15))))
    unit = noise.draw(clean.size, rng)
    return clean * np.exp(sigma * unit), unit, sigma


# --- healthy


def smooth_decay(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
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
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
    return Labelled("warmup_bump", values, clean, sigma, benign=(int(at * 0.3), int(at), int(at * 1.5)))


def lr_drop(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.3, 0.8))
    fall = np.where(t < at, 1.0, 1 - rng.uniform(0.1, 0.4) * (1 - np.exp(-(t - at) / (0.01 * n))))
    clean = decay(n, rng) * fall
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
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


# --- one fault


def divergence(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.15, 0.92))
    clean = decay(n, rng)
    rise = (t - at).clip(0) / (n * rng.uniform(0.02, 0.15))
    clean = clean * (np.exp(np.minimum(rise, 8)) if rng.random() < 0.5 else 1 + 1.5 * rise)
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
    return Labelled("divergence", values, clean, sigma, ((at, "divergence"),))


def spikes(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
    places = np.sort(rng.choice(np.arange(n // 20, n - n // 20, n // 25), int(rng.integers(1, 5)), replace=False))
    for at in places:
        _add_spike(values, int(at), rng.uniform(15, 50) * sigma, float(rng.choice([0.3, 2, 10, 40])))
    return Labelled("spikes", values, clean, sigma, tuple((int(at), "spike") for at in places))


def _add_spike(values: Array, at: int, height: float, fade: float) -> None:
    tail = np.arange(min(values.size - at, int(8 * fade) + 1))
    values[at : at + tail.size] *= np.exp(height * np.exp(-tail / fade))


def periodic(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
    places = np.arange(int(n * rng.uniform(0.03, 0.1)), n - 10, int(n * rng.uniform(0.03, 0.12)))
    for at in places:
        _add_spike(values, int(at), rng.uniform(20, 40) * sigma, 2.0)
    return Labelled("periodic", values, clean, sigma, ((int(places[0]), "periodic"),), benign=tuple(map(int, places)))


def level(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.15, 0.85))
    noise = any_noise(rng)
    clean = decay(n, rng)
    values, _, sigma = _noisy(clean, rng, noise)
    shift = rng.choice([-1, 1]) * sigma * rng.uniform(3, 10)
    values = values * np.exp(shift * (t >= at))
    return Labelled("level", values, clean, sigma, ((at, "level_up" if shift > 0 else "level_down"),))


def variance(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.15, 0.85))
    clean = decay(n, rng)
    _, unit, sigma = _noisy(clean, rng, any_noise(rng))
    factor = float(rng.uniform(2.5, 5))
    values = clean * np.exp(sigma * unit * np.where(t >= at, factor, 1.0))
    return Labelled("variance", values, clean, sigma * factor, ((at, "variance"),))


def not_a_number(n: int, rng: np.random.Generator) -> Labelled:
    base = smooth_decay(n, rng)
    at = int(n * rng.uniform(0.1, 0.95))
    values = base.values.copy()
    values[at : None if rng.random() < 0.6 else at + 3] = rng.choice([np.nan, np.inf])
    return Labelled("nonfinite", values, base.clean, base.sigma, ((at, "nonfinite"),))


def plateau(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.25, 0.65))
    clean = 3 * np.exp(-np.minimum(t, at) / at * rng.uniform(0.8, 2.3))
    values, _, sigma = _noisy(clean, rng, any_noise(rng))
    return Labelled("plateau", values, clean, sigma, ((at, "plateau"),))


HEALTHY: tuple[Callable[[int, np.random.Generator], Labelled], ...] = (
    smooth_decay,
    additive_decay,
    small_batch,
    warmup_bump,
    lr_drop,
    negative_loss,
    reward,
    accuracy,
)
FAULTY: tuple[Callable[[int, np.random.Generator], Labelled], ...] = (
    divergence,
    spikes,
    periodic,
    level,
    variance,
    not_a_number,
    plateau,
)


def suite(each: int, n: int = 10_000, seed: int = 0) -> Iterator[Labelled]:
    """`each` curves of every kind, reproducible curve by curve."""
    for k, make in enumerate(HEALTHY + FAULTY):
        for i in range(each):
            yield make(n, np.random.default_rng([seed, k, i]))
