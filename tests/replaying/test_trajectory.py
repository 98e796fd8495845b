"""The level at a checkpoint, and rises above it."""

import math

from loganalyst.replaying.trajectory import Level, StepResult, Trajectory


def test_a_rise_is_against_the_level_or_its_scatter():
    assert Level(2.0, 0.1, 1.0).rise(Trajectory(0, [2.0, 6.0, 1.0])) == 3.0
    assert Level(0.0, 0.5, 1.0).rise(Trajectory(0, [0.0, 3.0])) == 2.0
    assert Level(-1.0, 0.0, 1.0).rise(Trajectory(0, [-1.0, -2.0])) == 1.0
    assert Level(2.0, 0.1, 1.0).rise(Trajectory(0, [2.0, math.nan])) == math.inf


def test_the_level_is_the_median_of_finite_values_with_its_scatter():
    level = Level.from_values([1.0, 2.0, 4.0, math.nan], [math.inf, 3.0])

    assert (level.loss, level.scatter, level.norm) == (2.0, 1.4826, 3.0)
    assert math.isnan(Level.from_values([math.nan], []).loss)


def test_a_trajectory_has_its_peak_and_its_first_nonfinite_step():
    steps = Trajectory(10)
    for loss in (1.0, 5.0, 2.0):
        steps.add(StepResult(loss, 0.5, 0.1, {"a": loss}))

    assert (steps.peak, steps.nonfinite) == (11, None)
    assert Level(1.0, 0.0, 1.0).first_rise(steps, 2.0) == 11
    steps.add(StepResult(math.inf, 0.5, 0.1, {"a": 1.0, "b": 3.0}))
    assert (steps.peak, steps.nonfinite) == (13, 13)
    assert steps.components["a"] == [1.0, 5.0, 2.0, 1.0]
    assert [math.isnan(x) for x in steps.components["b"]] == [True, True, True, False]
