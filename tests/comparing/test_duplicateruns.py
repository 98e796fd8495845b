"""Runs that are copies, runs that are not repeatable, and settings without effect."""

import polars as pl
import pytest

from loganalyst.comparing.duplicateruns import CURVE_FEATURES, duplicates
from loganalyst.comparing.settingspace import space
from loganalyst.features import declared
from tests.comparing.conftest import config, features


def same(settings, values, steps=100):
    runs = {f"r{i}": s for i, s in enumerate(settings)}
    columns = {"train_loss_last": values, "run_last_step": [steps] * len(values)}
    return duplicates(space(list(runs), config(runs)), features(**columns), pl.Series(values, dtype=pl.Float64))


@pytest.mark.parametrize(
    ("settings", "values", "expected"),
    [
        ([{"lr": 1, "seed": 1}] * 2, [0.5, 0.5], [("copies", ("r0", "r1"), ())]),
        ([{"lr": 1, "seed": 1}] * 2, [0.5, 0.6], [("nondeterministic", ("r0", "r1"), ())]),
        ([{"lr": 1}] * 2, [0.5, 0.6], [("seedless", ("r0", "r1"), ())]),
        ([{"lr": 1, "ema": 0.9}, {"lr": 1, "ema": 0.99}], [0.5, 0.5], [("without_effect", ("r0", "r1"), ("ema",))]),
        ([{"lr": 1, "seed": 1}, {"lr": 1, "seed": 2}], [0.5, 0.6], []),
        ([{"lr": 1}, {"lr": 2}], [None, None], []),
    ],
)
def test_runs_that_are_the_same(settings, values, expected):
    assert [(d.kind, d.runs, d.keys) for d in same(settings, values)] == expected


def test_runs_too_short_to_have_a_curve_are_not_the_same():
    assert same([{"lr": 1}, {"lr": 2}], [0.5, 0.5], steps=1) == ()


def test_the_features_of_a_curve_are_declared():
    assert set(CURVE_FEATURES) <= set(declared())
