"""Two sets of runs, and runs that are the same."""

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

from loganalyst.comparing.regressions import changed, regressions
from loganalyst.comparing.settingspace import space
from tests.comparing.conftest import config, features


def asked(settings, new, failed=None, **columns):
    runs = {f"r{i}": s for i, s in enumerate(settings)}
    side = np.asarray(new, dtype=bool)
    bad = np.zeros(side.size, dtype=bool) if failed is None else np.asarray(failed)
    return regressions(space(list(runs), config(runs)), features(**columns), side, bad)


def losses(values):
    return {"val_loss_metric": ["val/loss"] * len(values), "val_loss_best": [float(v) for v in values]}


OLD, NEW = [0.50, 0.62, 0.71, 0.83], [0.56, 0.66, 0.79, 0.87]


def test_pairs_of_equal_settings_are_a_paired_test():
    """Four settings, one run each: Student's paired test, though the settings differ by far more."""
    settings = [{"lr": 0.1 * i} for i in range(4)] * 2
    (found,) = asked(settings, [False] * 4 + [True] * 4, **losses(OLD + NEW))
    expected = ttest_rel(NEW, OLD)
    interval = expected.confidence_interval(0.95)

    assert (found.metric, found.role, found.matched, found.verdict) == ("val/loss", "val_loss", 4, "worse")
    assert found.difference == pytest.approx(np.mean(NEW) - np.mean(OLD))
    assert (found.p, found.low, found.high) == pytest.approx((expected.pvalue, interval.low, interval.high))


def test_sets_without_equal_settings_are_compared_as_a_whole():
    settings = [{"lr": 0.1 * i} for i in range(8)]
    (found,) = asked(settings, [False] * 4 + [True] * 4, **losses(OLD + NEW))
    expected = ttest_ind(NEW, OLD)

    assert (found.matched, found.verdict) == (0, "same")
    assert found.p == pytest.approx(expected.pvalue)


def test_a_setting_that_differs_in_all_runs_is_reported_and_prevents_no_pairs():
    settings = [{"lr": 0.1 * i, "optimizer": o} for o in ("adamw", "adam") for i in range(4)]
    new = np.array([False] * 4 + [True] * 4)
    runs = {f"r{i}": s for i, s in enumerate(settings)}

    assert changed(space(list(runs), config(runs)), new) == {"optimizer": ("adamw", "adam")}
    assert asked(settings, new, **losses(OLD + NEW))[0].matched == 4


def test_higher_scores_are_better():
    settings = [{"lr": 0.1 * i} for i in range(4)] * 2
    scores = {"val_score_metric": ["val/acc"] * 8, "val_score_best": OLD + NEW}
    (found,) = asked(settings, [False] * 4 + [True] * 4, **scores)

    assert found.verdict == "better"


def test_one_run_against_one_is_not_known():
    (found,) = asked([{"lr": 0.1}] * 2, [False, True], **losses([0.5, 0.9]))

    assert (found.verdict, found.p, found.low) == ("unknown", None, None)


def test_more_failing_runs_are_worse():
    failed = [False] * 10 + [True] * 9 + [False]
    (share, _) = asked([{"lr": 0.1}] * 20, [False] * 10 + [True] * 10, failed, **losses([1.0] * 20))

    assert (share.metric, share.verdict) == ("share of runs that fail", "worse")
    assert (share.old, share.new) == (0.0, 0.9)


def test_equal_sets_are_called_worse_or_better_at_the_stated_rate():
    """Of 60 pairs of sets with two metrics 5 %: nine and more have a chance of 1 in 300."""
    significant = 0
    settings = [{"lr": 0.1 * i, "seed": s} for s in range(2) for i in range(3)] * 2
    for seed in range(60):
        noise = np.random.default_rng(seed).standard_normal((2, 12))
        train = {"train_loss_metric": ["loss"] * 12, "train_loss_last": noise[1].tolist()}
        found = asked(settings, [False] * 6 + [True] * 6, **losses(noise[0]), **train)
        significant += any(r.verdict in ("worse", "better") for r in found)

    assert significant < 9
