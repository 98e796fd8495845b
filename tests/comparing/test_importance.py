"""Importances have the right order; settings without effect are important at the stated rate only."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.comparing.sensitivity import sensitivity
from tests.comparing.conftest import searched, spaced

NULL = {"weight_decay", "null"}


def asked(space, loss, sign=1.0):
    return sensitivity(space.settings, np.arange(len(loss)), loss, sign)[0]


@cache
def of_forty_runs(seed):
    return asked(*searched(seed, 40)).importances


def test_the_shares_are_those_of_the_truth():
    """Shares of the variance in 600 runs: of the rate, the optimiser, the product of rate and batch, and the noise."""
    found = asked(*searched(1, 600))
    shares = {i.key: i for i in found.importances}
    at = np.linspace(-2, 2, 100_001)
    rate, both = np.var(0.3 * at**2), 0.0625 * np.mean(at**2) * 5 / 9
    optimizer, noise = 0.36 * 2 / 9, 0.01
    whole = rate + both + optimizer + noise

    assert found.importances[0].key == "lr"
    assert {k for k, i in shares.items() if i.important} == {"lr", "optimizer", "batch_size"}
    assert shares["lr"].share == pytest.approx((rate + both) / whole, abs=0.06)
    assert shares["optimizer"].share == pytest.approx(optimizer / whole, abs=0.06)
    assert shares["batch_size"].share == pytest.approx(both / whole, abs=0.06)
    assert found.noise == pytest.approx(noise / whole, abs=0.03)
    assert set(found.interactions[0].keys) == {"lr", "batch_size"}
    assert found.interactions[0].important
    assert all(shares[k].share < 0.01 for k in NULL)


def test_forty_runs_name_what_matters_most_nine_times_in_ten():
    orders = [[i.key for i in of_forty_runs(seed)] for seed in range(10)]

    assert sum(order[0] == "lr" for order in orders) >= 9


def test_settings_without_an_effect_are_named_at_the_stated_rate_only():
    """Of 40 sweeps of pure noise 5 % name any: six and more have a chance of 1 %."""
    named = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        space = spaced({"lr": 10 ** rng.uniform(-5, -1, 24), "batch_size": rng.choice([32, 64, 128], 24)})
        named += any(i.important for i in asked(space, rng.standard_t(4, 24)).importances)

    assert named <= 5


def test_null_settings_beside_strong_ones_keep_their_rate():
    """Chances of settings without effect are below 0.05 one time in twenty: of 30 five and more have one of 2 %."""
    below = [i.p < 0.05 for seed in range(15) for i in of_forty_runs(seed) if i.key in NULL]

    assert len(below) == 30
    assert sum(below) <= 4


@cache
def of_thirty_runs(sign):
    """Of an objective, and of its negative where higher is better."""
    space, loss = searched(3, 30)
    return asked(space, sign * loss, sign)


@settings(max_examples=5)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-100, 100))
def test_units_of_the_objective_do_not_matter(scale, shift):
    """The same shares for a·x + b with a > 0, and for -x where higher is better."""
    space, loss = searched(3, 30)
    expected, turned = of_thirty_runs(1.0), of_thirty_runs(-1.0)
    found = asked(space, scale * loss + shift)

    for other in (found, turned):
        by_key = {i.key: i for i in other.importances}
        for i in expected.importances:
            assert by_key[i.key].share == pytest.approx(i.share, abs=0.02)
            assert by_key[i.key].p == pytest.approx(i.p, abs=0.02)
