import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from loganalyst.signals.rateschedule import Schedule, schedule

T = np.arange(1001)
COSINE = (1 + np.cos(np.pi * T / 1000)) / 2
SHAPES = {
    "constant": np.ones(1001),
    "linear": 1 - 0.9 * T / 1000,
    "cosine": 0.05 + 0.95 * COSINE,
    "step": np.select([T < 400, T < 700], [1.0, 0.1], 0.01),
    "warmup_constant": np.minimum(1, (T + 1) / 101),
    "one_cycle": np.where(T < 300, 0.04 + 0.96 * T / 300, (1 + np.cos(np.pi * (T - 300) / 700)) / 2),
    "exponential": 0.995**T,
    "inverse_sqrt": 1 / np.sqrt(1 + T / 20),
    "other": 1 - 0.9 * (T / 1000) ** 6,
}


@pytest.mark.parametrize("kind", SHAPES)
def test_named_schedules(kind):
    """Every schedule has its name, at any scale."""
    assert kind == schedule(T, SHAPES[kind]).kind
    assert kind == schedule(T, 3e-4 * SHAPES[kind]).kind


@pytest.mark.parametrize("kind", ["linear", "cosine"])
def test_warm_up_before_a_decay(kind):
    """A linear warm-up of a tenth is measured, and the decay keeps its name."""
    rate = np.where(T < 100, T / 100, np.interp(T, np.linspace(100, 1000, 1001), SHAPES[kind]))
    s = schedule(T, rate)

    assert kind == s.kind
    assert s.warmup_share == pytest.approx(0.095)
    assert s.peak_step == pytest.approx(100, abs=1)
    assert (s.first, s.peak) == (0, 1.0)


def test_drops_are_where_the_rate_falls():
    """Each sudden fall by 30 % or more gives its step."""
    s = schedule(T * 10, SHAPES["step"])

    assert s.drop_steps == (4000, 7000)
    assert s.final_ratio == pytest.approx(0.01)
    assert s.warmup_share == 0


def test_the_end_of_a_smooth_decay_is_no_drop():
    """The last steps of a decay to zero fall by more than 30 % each, but are no drops."""
    assert schedule(T, COSINE).drop_steps == ()


def test_a_later_cycle_may_reach_a_little_higher():
    """The first cycle begins at 97 % of the peak that the second one reaches: it still names the schedule."""
    lower = np.linspace(0.97, 0.1, 500)
    s = schedule(np.arange(1000), np.concatenate([lower, lower / 0.97]))
    assert (s.restarts, s.kind, s.peak_step) == (1, "linear", 500)


def test_warm_restarts_are_counted():
    """Three cosine cycles restart twice, each with a jump, and take the name of the first."""
    s = schedule(T, (1 + np.cos(np.pi * (T % 334) / 334)) / 2)

    assert (s.restarts, s.kind, s.jump_steps) == (2, "cosine", (334, 668))
    assert schedule(T, COSINE).restarts == 0


def test_thousands_of_restarts_are_counted():
    """Short and long cycles alternate, as in a job that restarted over and over."""
    cycles = [np.linspace(1, 0, n) for n in (50, 3, 700)] * 1000
    s = schedule(np.arange(753_000), np.concatenate(cycles))

    assert (s.restarts, s.kind, s.jump_steps[:4]) == (2999, "linear", (50, 53, 753, 803))


def test_a_warm_up_in_steps_is_no_jump():
    """Only a rise after the peak was reached counts: here the rate returns to it at step 600."""
    rate = np.select([T < 50, T < 100, T < 300, T < 600], [0.1, 0.5, 1.0, 0.4], 1.0)

    assert schedule(T, rate).jump_steps == (600,)


def test_a_jump_above_all_earlier_rates_is_a_jump():
    """A rate that stayed constant for a tenth of the run has warmed up."""
    s = schedule(T, np.select([T < 50, T < 500], [0.0001, 0.001], 0.03))
    waits = schedule(T, np.select([T < 300], [0.0], 0.03))  # a rate of 0 has not begun

    assert (s.jump_steps, s.jump_ratio) == ((500,), pytest.approx(30.0))
    assert waits.jump_steps == ()


def test_exhausted_needs_a_tenth_of_the_run():
    """A rate that reaches zero half-way is exhausted there; one that ends at zero is not."""
    early = np.maximum(0, 1 - T / 500)

    assert schedule(T, early).exhausted_step == 500
    assert schedule(T, 1 - T / 1000).exhausted_step is None


def test_steps_of_two_counters_are_no_measure_of_what_remains():
    """The last two of 22 rows have no rate; one of them has a step of the other counter."""
    steps = [1, 5, 6, 7, 8, 2, 9, 10, 11, 12, 3, 13, 14, 15, 16, 4, 17, 18, 19, 20, 5, 20]
    rates = np.repeat([3.0, 2.25, 1.5, 0.75, 0.0], [5, 5, 5, 5, 2])

    assert schedule(steps, rates).exhausted_step is None
    assert schedule(np.arange(22), np.repeat([3.0, 0.0], [15, 7])).exhausted_step == 15


def test_nothing_usable_is_unknown():
    """No finite point: all unknown. One point: a level, no kind."""
    assert Schedule() == schedule([], []) == schedule([1], [np.nan])
    assert schedule([5], [0.1]).kind is None
    assert schedule([5], [0.1]).peak == 0.1


@example(np.array([1e-50, 1e-50, 1e258]))
@example(np.array([8.8e15, 6.1e15, 8.8e15, 2.2e-278]))
@given(arrays.arrays(np.float64, st.integers(0, 60), elements=st.floats(width=64)))
@settings(max_examples=100, deadline=None)
def test_any_floats_are_described(values):
    """No float array raises."""
    schedule(np.arange(values.size), values)
