"""Seeded synthetic training curves with known truth: those with faults, and the whole suite."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tests.bench.learning_curves import HEALTHY, Array, Labelled, any_noise, decay, noisy, smooth_decay


def divergence(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.15, 0.92))
    clean = decay(n, rng)
    rise = (t - at).clip(0) / (n * rng.uniform(0.02, 0.15))
    clean = clean * (np.exp(np.minimum(rise, 8)) if rng.random() < 0.5 else 1 + 1.5 * rise)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    return Labelled("divergence", values, clean, sigma, ((at, "divergence"),))


def spikes(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    places = np.sort(rng.choice(np.arange(n // 20, n - n // 20, n // 25), int(rng.integers(1, 5)), replace=False))
    for at in places:
        _add_spike(values, int(at), rng.uniform(15, 50) * sigma, float(rng.choice([0.3, 2, 10, 40])))
    return Labelled("spikes", values, clean, sigma, tuple((int(at), "spike") for at in places))


def _add_spike(values: Array, at: int, height: float, fade: float) -> None:
    fade = min(fade, values.size / 250)
    tail = np.arange(min(values.size - at, int(8 * fade) + 1))
    values[at : at + tail.size] *= np.exp(height * np.exp(-tail / fade))


def periodic(n: int, rng: np.random.Generator) -> Labelled:
    clean = decay(n, rng)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    places = np.arange(int(n * rng.uniform(0.03, 0.1)), n - 10, int(n * rng.uniform(0.03, 0.12)))
    for at in places:
        _add_spike(values, int(at), rng.uniform(20, 40) * sigma, 2.0)
    return Labelled("periodic", values, clean, sigma, ((int(places[0]), "periodic"),), benign=tuple(map(int, places)))


def _shifted(n: int, rng: np.random.Generator, sign: int, where: tuple[float, float] = (0.15, 0.85)) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(*where))
    clean = decay(n, rng)
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    shift = sign * sigma * rng.uniform(3, 10)
    values = values * np.exp(shift * (t >= at))
    return Labelled("level", values, clean, sigma, ((at, "level_up" if sign > 0 else "level_down"),))


def variance(n: int, rng: np.random.Generator) -> Labelled:
    t, at = np.arange(n), int(n * rng.uniform(0.15, 0.85))
    clean = decay(n, rng)
    _, unit, sigma = noisy(clean, rng, any_noise(rng))
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
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    return Labelled("plateau", values, clean, sigma, ((at, "plateau"),))


def level_up(n: int, rng: np.random.Generator) -> Labelled:
    return replace(_shifted(n, rng, 1), name="level_up")


def level_down(n: int, rng: np.random.Generator) -> Labelled:
    return replace(_shifted(n, rng, -1), name="level_down")


def slope(n: int, rng: np.random.Generator) -> Labelled:
    """The loss climbs for a while, by a part of its progress, and then goes on falling."""
    t, at = np.arange(n), int(n * rng.uniform(0.25, 0.6))
    length = int(n * rng.uniform(0.12, 0.25))
    fall = rng.uniform(0.5, 1.5) / n
    values, _, sigma = noisy(np.ones(n), rng, any_noise(rng))
    climb = sigma * rng.uniform(6, 15) / length + fall
    clean = 2 * np.exp(-fall * t + climb * (t - at).clip(0, length) - 3 * fall * (t - at - length).clip(0))
    return Labelled("slope", values * clean, clean, sigma, ((at, "slope"),), benign=(at + length,))


def restart(n: int, rng: np.random.Generator) -> Labelled:
    """The job went on from an earlier checkpoint; the steps say so."""
    base = smooth_decay(n, rng)
    at = int(n * rng.uniform(0.2, 0.9))
    steps = np.arange(n, dtype=float)
    steps[at:] -= rng.integers(n // 50, n // 8)
    return replace(base, name="restart", steps=steps, events=((at, "restart"),))


def mixed(n: int, rng: np.random.Generator) -> Labelled:
    """A jump, a spike after it, NaN in the end: three events in one curve."""
    base = _shifted(n, rng, 1, (0.2, 0.45))
    values, at = base.values.copy(), int(n * rng.uniform(0.55, 0.8))
    _add_spike(values, at, rng.uniform(20, 50) * base.sigma, 2.0)
    end = int(n * rng.uniform(0.85, 0.97))
    values[end:] = np.nan
    return replace(base, name="mixed", values=values, events=(*base.events, (at, "spike"), (end, "nonfinite")))


def rate_drop(n: int, rng: np.random.Generator) -> Labelled:
    """A learning-rate drop that is logged, and the gain that follows it."""
    t, at = np.arange(n), int(n * rng.uniform(0.3, 0.7))
    fall = np.where(t < at, 1.0, 1 - rng.uniform(0.25, 0.5) * (1 - np.exp(-(t - at) / (0.003 * n))))
    clean = decay(n, rng) * fall
    values, _, sigma = noisy(clean, rng, any_noise(rng))
    values = clean * (values / clean) ** (0.03 / sigma if sigma > 0.03 else 1.0)
    near = tuple(at + k * n // 100 for k in (1, 2, 3))
    rate = np.where(t < at, 0.1, 0.01)
    return Labelled("rate_drop", values, clean, min(sigma, 0.03), ((at, "lr_drop"),), near, rate=rate)


FAULTY: tuple[Callable[[int, np.random.Generator], Labelled], ...] = (
    divergence,
    spikes,
    periodic,
    level_up,
    level_down,
    slope,
    variance,
    not_a_number,
    plateau,
    restart,
    rate_drop,
    mixed,
)


def suite(each: int, n: int = 10_000, seed: int = 0) -> Iterator[Labelled]:
    """`each` curves of every kind, reproducible curve by curve."""
    for k, make in enumerate(HEALTHY + FAULTY):
        for i in range(each):
            yield make(n, np.random.default_rng([seed, k, i]))
