"""Where two curves split: exact on constructed curves, rarely by chance, the same in any unit."""

import numpy as np
import pytest

from loganalyst.signals.splitpoint import parting

STEPS = np.arange(1000)


def fall(seed: int, n: int = 1000, noise: float = 0.05):
    """A loss that falls from 2.6 to 0.3, with noise in proportion."""
    steps = np.arange(n)
    return (2.3 * np.exp(-5 * steps / n) + 0.3) * np.exp(noise * np.random.default_rng(seed).normal(size=n))


def test_a_jump_is_placed_at_its_step():
    ours = fall(1)
    ours[600:] *= 1.5

    found = parting(STEPS, ours, STEPS, fall(2))

    assert (found.index, found.sign, found.final, found.final_sign) == (600, 1, 600, 1)
    assert found.ours == pytest.approx(1.5 * found.theirs, rel=0.05)


def test_curves_of_two_seeds_stay_together():
    """None in a hundred pairs that differ by noise alone."""
    assert [k for k in range(100) if parting(STEPS, fall(2 * k), STEPS, fall(2 * k + 1))] == []


def test_the_sign_shows_the_lower_curve():
    ours = fall(1)
    ours[400:] *= 0.6

    assert parting(STEPS, ours, STEPS, fall(2)).sign == -1


def test_curves_that_split_may_meet_again():
    ours = fall(1)
    ours[300:500] *= 2

    found = parting(STEPS, ours, STEPS, fall(2))

    assert (found.index, found.sign, found.final, found.final_sign) == (300, 1, None, 0)


def test_better_first_and_worse_for_good():
    ours = fall(1)
    ours[200:400] *= 0.5
    ours[700:] *= 2

    found = parting(STEPS, ours, STEPS, fall(2))

    assert (found.sign, found.final, found.final_sign) == (-1, 700, 1)
    assert abs(found.index - 200) <= 10


def test_a_single_outlier_is_no_split():
    ours = fall(1)
    ours[500] *= 1e6

    assert parting(STEPS, ours, STEPS, fall(2)) is None


def test_the_last_step_with_equal_values():
    """With the same seed all values are equal until the change takes effect."""
    ours, theirs = fall(1), fall(1)
    ours[250:] = fall(3)[250:] * 1.4

    found = parting(STEPS, ours, STEPS, theirs)

    assert (found.index, found.equal) == (250, 249)


def test_a_curve_that_becomes_nan_splits_there():
    ours = fall(1)
    ours[632:] = np.nan

    found = parting(STEPS, ours, STEPS, fall(2))

    assert (found.index, found.sign, found.effect, found.final) == (632, 0, np.inf, 632)
    assert np.isnan(found.ours)
    assert found.theirs == pytest.approx(0.3, rel=0.1)


def test_a_nan_that_goes_away_is_not_final():
    ours = fall(1)
    ours[400:405] = np.nan

    found = parting(STEPS, ours, STEPS, fall(2))

    assert (found.index, found.final) == (400, None)


def test_curves_are_compared_at_the_steps_of_the_sparser_one():
    ours = fall(1)
    ours[600:] *= 1.5
    sparse = np.arange(3, 1000, 7)

    found = parting(STEPS, ours, sparse, fall(2)[sparse])

    assert abs(int(STEPS[found.index]) - 600) <= 7


def test_only_common_steps_count():
    """A run that was cut off does not differ from one that continued."""
    assert parting(STEPS[:400], fall(1)[:400], STEPS, fall(2)) is None
    assert parting([0, 1, 2], [1.0, 2.0, 3.0], [10, 11, 12], [9.0, 9.0, 9.0]) is None


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_steps_cannot_be_compared(n):
    assert parting(np.arange(n), np.zeros(n), np.arange(n), np.ones(n)) is None


def test_the_unit_does_not_matter():
    ours = fall(1)
    ours[600:] *= 1.5
    found = [parting(STEPS, unit * ours, STEPS, unit * fall(2)) for unit in (1, 1e-9, 1e12)]

    assert {f.index for f in found} == {600}


def test_of_a_step_logged_twice_the_last_counts():
    steps = np.repeat(np.arange(100), 2)
    ours = np.where(np.arange(200) % 2, 1.0, 77.0)

    assert parting(steps, ours, np.arange(100), np.ones(100)) is None
