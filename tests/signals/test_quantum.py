"""The step of rounded numbers, and what it allows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals import change_points, gap, parting, quantum, schedule, shape
from loganalyst.signals.preparedcurve import prepare
from loganalyst.signals.quantum import ROUNDING_SD, least_ratio
from loganalyst.signals.rate_drop import drops

RNG = np.random.default_rng(7)
DECAY = 2.3 * np.exp(-np.arange(400) / 60) * np.exp(0.05 * RNG.normal(size=400))


@pytest.mark.parametrize("decimals", range(1, 7))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [0.5, 10.0])
def test_rounded_numbers_have_the_step_of_their_last_decimal(decimals: int, dtype: type, scale: float) -> None:
    """As they are stored: in 64 or 32 bits, with zeros and NaN in between."""
    values = np.round(scale * RNG.random(200), decimals).astype(dtype)
    values[[3, 50, 51]] = 0, np.nan, np.inf

    assert quantum(values) == 10.0**-decimals


@pytest.mark.parametrize(
    "values",
    [
        RNG.random(100),
        RNG.random(100).astype(np.float32),
        (100 * RNG.random(100)).astype(np.float32),
        (1 + RNG.random(100)).astype(np.float16),
        RNG.integers(0, 30, 100) / 30,
        np.round(RNG.random(100), 7),
        RNG.random(100) * 1e20,
    ],
    ids=["64 bits", "32 bits", "32 bits, above 1", "16 bits", "thirtieths", "seven decimals", "beyond decimals"],
)
def test_numbers_in_full_precision_have_none(values: np.ndarray) -> None:
    assert quantum(values) == 0


@pytest.mark.parametrize(
    "values",
    [[500, 481, 212, 0], [0, 1, 1, 0], [65536, 32768], [0.5, 0.25, 1.75, 3.5], [0, 0, 0], [], [np.nan]],
    ids=["counts", "successes", "loss scale", "halves", "zeros", "nothing", "NaN"],
)
def test_whole_numbers_and_binary_fractions_are_exact(values: list[float]) -> None:
    assert quantum(values) == 0


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.1, 0.01, 0.001], 0),  # a rate that is cut to a tenth
        ([0.004, 0.002, 0.001], 0),  # a rate that is halved
        ([0.001] * 50, 0),  # a constant
        ([0.0003, 0.0002, 0.0002, 0.0001, 0.0], 1e-4),  # no step is left out
        ([0.6931, 0.2018, 0.0113, 0.0], 1e-4),
    ],
)
def test_few_digits_show_no_rounding(values: list[float], step: float) -> None:
    """Numbers that people choose are short, too."""
    assert quantum(values) == step


def test_one_value_in_full_precision_is_enough() -> None:
    values = np.round(RNG.random(1000), 3)
    values[777] = 0.12345678

    assert quantum(values) == 0


def test_differences_of_rounded_numbers_are_rounded_too() -> None:
    """1 - 0.9987 is 0.0013 and a little more: its error is that of the larger number."""
    assert quantum(1 - np.round(1 - 0.3 * RNG.random(200), 4)) == 1e-4


@given(arrays.arrays(np.float64, st.integers(0, 60), elements=st.floats(width=64)))
def test_any_floats_are_accepted(values: np.ndarray) -> None:
    assert 0 <= quantum(values) <= 0.1


@pytest.mark.parametrize(
    ("high", "low", "step", "ratio"),
    [
        (0.03, 0.02, 0.01, 1.0),
        (0.04, 0.02, 0.01, 1.4),
        (0.02, 0.0, 0.01, 3.0),
        (3.0, 2.0, 0.0, 1.5),
        (2.0, 4.0, 0.0, 0.5),
        (3.0, 0.0, 0.0, None),
        (3.0, -1.0, 0.0, None),
    ],
)
def test_the_ratio_that_rounding_allows(high: float, low: float, step: float, ratio: float | None) -> None:
    found = least_ratio(high, low, step)

    assert found == (None if ratio is None else pytest.approx(ratio))


@pytest.mark.parametrize("values", [np.round(DECAY, 3), np.round(DECAY - 0.5, 3)], ids=["logarithm", "both signs"])
def test_no_noise_is_below_that_of_rounding(values: np.ndarray) -> None:
    """On the scale of the detectors, at each point."""
    p = prepare(values)
    step = np.abs(np.interp(values + 0.001, np.sort(values), np.sort(p.y)) - p.y)

    assert (p.noise >= ROUNDING_SD * p.step).all()
    assert (p.level_noise >= ROUNDING_SD * p.level_step).all()
    assert float(np.median(p.step)) == pytest.approx(float(np.median(step)), rel=0.5)


def test_a_curve_that_drifts_by_one_digit_has_no_jumps() -> None:
    """0.0031 to 0.0025 over the run, at four decimals: stairs, but no changes."""
    drift = np.round(np.linspace(0.00312, 0.00248, 600), 4)

    assert change_points(drift, role="train_loss") == []


def test_a_spike_of_one_digit_near_zero_is_rounding() -> None:
    """0.0001 among zeros is no spike; 0.4 is one."""
    values = np.round(np.where(np.arange(600) < 100, DECAY[0] * np.exp(-np.arange(600) / 9), 0.00004), 4)
    values[[250, 300, 431]] = 0.0001
    assert [c.kind for c in change_points(values, role="train_loss") if c.index > 200] == []

    values[500] = 0.4
    assert [(c.kind, c.index) for c in change_points(values, role="train_loss") if c.index > 200] == [("spike", 500)]


def test_the_shape_of_a_rounded_curve() -> None:
    """Its noise is at least that of rounding, its rise the least that is possible, its repeats are by chance."""
    flat = np.concatenate((np.round(2 * np.exp(-np.arange(50) / 9), 2), np.full(50, 0.01), np.full(50, 0.02)))
    found = shape(flat)

    assert found.noise == pytest.approx(0.01 * ROUNDING_SD)
    assert found.rise_ratio == pytest.approx(1.0)
    assert shape(np.round(0.91 + 0.004 * RNG.normal(size=100), 2)).constant_share is None
    assert shape(np.append(np.round(RNG.random(50), 4), np.full(50, 0.5))).constant_share == 1.0


def test_the_gap_of_rounded_losses() -> None:
    """One digit up from the best is no known rise."""
    steps = np.arange(40)
    held_out = np.round(0.3 * np.exp(-steps / 4) + np.where(steps > 25, 0.0257, 0.0243), 2)

    found = gap([], [], steps, held_out)

    assert (found.best_value, held_out[-1], found.rise_ratio) == (0.02, 0.03, 1.0)


def test_a_rounded_schedule() -> None:
    """A cosine at four decimals falls digit by digit: no sudden drops, and its last 0 is not known to be 0."""
    steps = np.arange(200)
    rate = 0.0004 * (1 + np.cos(np.pi * steps / 200)) / 2
    exact, rounded = schedule(steps, rate), schedule(steps, np.round(rate, 4))

    assert (exact.exhausted_step, rounded.exhausted_step, rounded.final_ratio) == (None, None, None)
    assert (rounded.drop_steps, drops(np.round(rate, 4)).tolist()) == ((), [])
    assert schedule(steps, np.where(steps < 100, 0.1234, 0.0)).exhausted_step == 100


def test_two_curves_that_differ_by_their_rounding_stay_together() -> None:
    """0.415 and 0.425 of one curve, rounded to two decimals, are one digit apart for a third of the run."""
    steps = np.arange(300)
    level = 0.4201 - 0.0001 * steps
    ours, theirs = np.round(level + 0.0017, 2), np.round(level - 0.0017, 2)

    assert parting(steps, ours, steps, theirs) is None
    assert parting(steps, np.round(level + 0.2, 2), steps, theirs) is not None
