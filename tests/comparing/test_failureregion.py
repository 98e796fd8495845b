"""The region of settings in which runs fail."""

import numpy as np

from loganalyst.comparing.failureregion import corner
from tests.comparing.conftest import spaced


def corners(columns, bad):
    return corner(spaced(columns).settings, np.asarray(bad, dtype=bool))


def test_the_unstable_corner_has_both_conditions():
    rng = np.random.default_rng(1)
    lr, momentum = 10 ** rng.uniform(-4, 0, 200), rng.choice([0.0, 0.9], 200)
    found = corners({"lr": lr, "momentum": momentum, "width": rng.choice([1, 2], 200)}, (lr > 0.1) & (momentum > 0.5))

    assert found is not None
    assert {c.split()[0] for c in found.conditions} == {"lr", "momentum"}
    assert found.failed >= 0.9 * found.runs
    assert found.p < 1e-6


def test_one_condition_is_enough_where_a_second_adds_nothing():
    optimizer = ["adam", "sgd"] * 30
    found = corners({"optimizer": optimizer, "width": [1, 2, 3] * 20}, [o == "sgd" for o in optimizer])

    assert found is not None
    assert found.conditions == ("optimizer = sgd",)
    assert (found.runs, found.failed, found.other_runs, found.other_failed) == (30, 30, 30, 0)


def test_chance_makes_no_corner():
    """Of 40 sweeps in which a third fails by chance 5 % name a corner: six and more have a chance of 1 %."""
    found_regions = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = {"lr": rng.uniform(size=60), "b": rng.choice([1, 2, 3], 60)}
        found_regions += corners(columns, rng.uniform(size=60) < 0.33) is not None

    assert found_regions <= 5


def test_there_is_no_corner_where_all_or_none_fail():
    assert corners({"lr": [1, 2, 3]}, [True] * 3) is None
    assert corners({"lr": [1, 2, 3]}, [False] * 3) is None
