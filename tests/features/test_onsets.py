"""Which metric moved first, on runs with a known order and different logging intervals."""

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from loganalyst import signals
from loganalyst.curves import roles
from loganalyst.curves.effective import curves
from loganalyst.features.context import Context
from loganalyst.features.onsets import compute, onsets
from loganalyst.model import Features, Onset, Run, Source, table

FeaturesOf = Callable[..., Features]
Logged = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
START = 1_700_000_000.0


def context(logged: Logged, seconds: Mapping[str, float] | None = None) -> Context:
    """A run of these metrics; `seconds` a step for those with a clock."""
    frames = []
    for metric, (steps, values) in logged.items():
        every = (seconds or {}).get(metric)
        clock = None if every is None else pl.Series((START + every * steps) * 1e6).cast(pl.Int64)
        times = None if clock is None else clock.cast(pl.Datetime("us", "UTC"))
        row = {"session": 0, "metric": metric, "step": steps, "value": values, "source": "m.csv", "time": times}
        frames.append(table("points", row))
    run = Run(points=pl.concat(frames), sources=(Source("m.csv", "csv", 1),))
    found = curves(run, roles.assign(logged))
    return Context(run, found, signals.find(found)[0])


def every(n: int, interval: int) -> NDArray[np.int64]:
    return np.arange(0, n, interval)


def noisy(values: NDArray[np.float64], seed: int, noise: float = 0.03) -> NDArray[np.float64]:
    """The values with multiplicative noise."""
    return np.asarray(values * np.exp(noise * np.random.default_rng(seed).standard_normal(values.size)))


def rate_jump(seed: int) -> Logged:
    """The rate jumps at 2,000, the gradient norm grows from 2,020 on, the loss from 2,060 on."""
    rate, grad, loss = every(3000, 10), every(3000, 5), every(3000, 1)
    growth = np.minimum(1.05 ** np.clip(grad - 2020, 0, 200), 50)
    course = 2 * np.exp(-loss / 600) + 0.5 + 0.001 * np.clip(loss - 2060, 0, None)
    return {
        "lr": (rate, np.where(rate < 2000, 1e-3, 1e-2)),
        "grad_norm": (grad, noisy(growth, seed, 0.1)),
        "train/loss": (loss, noisy(course, seed + 1)),
    }


def term(seed: int) -> Logged:
    """One term of the loss rises from 2,500 on, seen every 2 steps; the total shows it every 50, a little later."""
    fine, coarse = every(4000, 2), every(4000, 50)
    cls, box = np.exp(-fine / 800) + 0.2, 0.3 * np.exp(-fine / 800) + 0.1 + 0.003 * np.clip(fine - 2500, 0, None)
    whole = np.interp(coarse, fine, cls + 0.2 * box)
    return {
        "train/loss": (coarse, noisy(whole, seed)),
        "train/loss_cls": (fine, noisy(cls, seed + 1)),
        "train/loss_box": (fine, noisy(box, seed + 2)),
    }


def slow_data(seed: int) -> Logged:
    """Waiting for data rises at 2,400, seen every 10 steps; the throughput halves at 2,430, seen every 50."""
    fine, coarse = every(4000, 10), every(4000, 50)
    return {
        "data_time": (fine, noisy(np.where(fine >= 2400, 0.6, 0.02), seed, 0.1)),
        "samples_per_second": (coarse, noisy(np.where(coarse >= 2430, 40.0, 100.0), seed + 1)),
    }


@pytest.mark.parametrize("seed", range(5))
def test_rate_then_gradient_then_loss(seed: int) -> None:
    """The order, each interval around the truth, and the confidence."""
    found = onsets(context(rate_jump(10 * seed)))

    assert [o.metric for o in found] == ["lr", "grad_norm", "train/loss"]
    assert (found[0].step, found[0].low, found[0].high) == (2000, 1990.0, 2000.0)
    assert found[1].low <= 2020 <= found[1].high
    assert found[0].before(found[1]) == 0.99
    assert found[1].before(found[2]) > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_a_term_then_the_loss(seed: int) -> None:
    """Features name the term, where it moved, and that it was first."""
    row = compute(context(term(10 * seed)))
    assert row["term_first_metric"] == "train/loss_box"
    assert row["term_first_step"] == pytest.approx(2500, abs=30)
    sure = row["term_first_confidence"]

    assert isinstance(sure, tuple)
    assert float(str(sure[0])) > 0.8
    assert sure[1].metric == "train/loss_box"


@pytest.mark.parametrize("seed", range(5))
def test_data_then_throughput(seed: int) -> None:
    """Also if the findings are in the other order."""
    found = context(slow_data(10 * seed))
    row = compute(found)

    assert [o.metric for o in onsets(found)] == ["data_time", "samples_per_second"]
    assert row["data_first_step"] == 2400
    assert row["onset_first_role"] == "data_time"


def test_overlapping_intervals_leave_the_order_open() -> None:
    """Two jumps at the same step, one logged every step, the other every 100: neither was surely first."""
    fine, coarse = every(4000, 1), every(4000, 100)
    logged = {
        "grad_norm": (fine, noisy(np.where(fine >= 2050, 30.0, 1.0), 0)),
        "train/loss": (coarse, noisy(np.where(coarse >= 2050, 3.0, 1.0), 1)),
    }
    first, then = sorted(onsets(context(logged)), key=lambda o: o.metric)

    assert (then.low, then.high) == (2000.0, 2100.0)
    assert first.before(then) == pytest.approx(0.5, abs=0.06)


def onset(low: float, high: float) -> Onset:
    return Onset("m", "train_loss", "divergence", 0, int(high), low, high, int(high))


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ((0, 10), (20, 30), 0.99),
        ((20, 30), (0, 10), 0.01),
        ((0, 10), (0, 10), 0.5),
        ((0, 10), (5, 15), 0.875),
        ((4, 5), (0, 10), 0.55),
    ],
)
def test_probability_of_an_order(a: tuple[float, float], b: tuple[float, float], p: float) -> None:
    """Of two uniform intervals; never fully certain."""
    assert onset(*a).before(onset(*b)) == pytest.approx(p)
    assert onset(*b).before(onset(*a)) == pytest.approx(1 - p)


def test_another_step_axis_is_placed_by_the_clock() -> None:
    """A metric by epoch jumps at epoch 60 of 100, 30 s each; the loss, one step per second, at 2,100."""
    steps, epochs = every(3000, 1), np.arange(100)
    logged = {
        "train/loss": (steps, noisy(np.where(steps >= 2100, 4.0, 1.0), 0)),
        "val_loss": (epochs, noisy(np.where(epochs >= 60, 4.0, 1.0), 1)),
    }
    found = onsets(context(logged, {"train/loss": 1.0, "val_loss": 30.0}))

    assert [(o.metric, o.step) for o in found] == [("val_loss", 1800), ("train/loss", 2100)]
    assert (found[0].low, found[0].high) == (1770.0, 1800.0)
    assert [o.metric for o in onsets(context(logged))] == ["train/loss"]  # without a clock there is no order


def test_a_loss_logged_twice_moved_once() -> None:
    """By step and by epoch: the first onset counts; held-out losses are separate."""
    steps, coarse = every(3000, 1), every(3000, 50)
    jump, late = np.where(steps >= 2000, 4.0, 1.0), np.where(coarse >= 2010, 4.0, 1.0)
    logged = {"train_loss_step": (steps, noisy(jump, 0)), "train_loss_epoch": (coarse, noisy(late, 1))}

    assert [o.metric for o in onsets(context(logged))] == ["train_loss_step"]
    assert [o.metric for o in onsets(context({**logged, "val_loss": (coarse, noisy(late, 2))}))] == [
        "train_loss_step",
        "val_loss",
    ]


def test_epochs_are_not_steps() -> None:
    """If the longest metric counts epochs, a metric by batch is left out without a clock."""
    epochs, steps = np.arange(400), 1000 * np.arange(300)
    logged = {
        "val_loss": (epochs, noisy(np.where(epochs >= 200, 4.0, 1.0), 0)),
        "train/loss": (steps, noisy(np.where(steps >= 100_000, 4.0, 1.0), 1)),
    }

    assert [o.metric for o in onsets(context(logged))] == ["val_loss"]


def test_nothing_moved(features_of: FeaturesOf) -> None:
    """0 means searched and none found; a single metric has no order."""
    calm = (np.exp(-np.arange(300) / 60) + 0.5).tolist()

    assert features_of({"loss": calm, "grad_norm": calm}).values["onset_count"] == 0
    assert features_of({"loss": calm}).values["onset_count"] is None


def test_the_warm_up_of_the_rate_is_no_onset() -> None:
    """A rate that rises in the first steps is intended."""
    steps = every(2000, 1)
    rate = np.where(steps < 40, 1e-4, 1e-2)
    logged = {"lr": (steps, rate), "train/loss": (steps, noisy(np.where(steps >= 1200, 4.0, 1.0), 0))}

    assert [o.metric for o in onsets(context(logged))] == ["train/loss"]


def test_a_single_training_loss_has_an_onset(features_of: Callable[..., Features]) -> None:
    """It leaves its course at step 200; without another metric there is no order."""
    noise = np.random.default_rng(0).normal(0, 0.01, 300)
    loss = np.concatenate([np.linspace(2, 1, 200), np.full(100, 4.0)]) + noise
    row = features_of({"loss": loss.tolist()}).values

    assert row["train_loss_onset_step"] == 200
    assert row["onset_count"] is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 1), (1, 1), 0.5),
        ((1, 1), (9, 9), 0.99),
        ((9, 9), (1, 1), 0.01),
        ((5, 5), (0, 10), 0.5),
        ((0, 10), (8, 8), 0.8),
    ],
)
def test_onsets_at_a_single_step_have_an_order(
    one: tuple[float, float], other: tuple[float, float], expected: float
) -> None:
    """Steps may lie far after the last of the longest metric: both ends of an interval are then equal."""
    first, second = (Onset("m", "train_loss", "divergence", 0, 1, low, high, 1) for low, high in (one, other))

    assert first.before(second) == pytest.approx(expected)
