"""Whether one group of settings is better than another, at the stated rate."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bartlett, ttest_ind

from loganalyst.comparing.seeds import Spread, compared, seeds, shrunk


def grouped(*groups, sign=1.0):
    """Runs r0, r1 … in groups with these objectives."""
    values = np.concatenate([np.asarray(g, dtype=float) for g in groups])
    same = pl.Series([i for i, g in enumerate(groups) for _ in g])
    ids = [f"r{i}" for i in range(values.size)]
    settings = [{"lr": str(i)} for i, g in enumerate(groups) for _ in g]
    return seeds(same, ids, values, settings, sign)


def test_two_groups_are_compared_by_welchs_test():
    a, b = [1.0, 1.2, 1.1, 0.9], [1.5, 1.8, 1.6]
    found = grouped(b, a)
    expected = ttest_ind(b, a, equal_var=False)
    interval = expected.confidence_interval(0.95)
    (versus,) = found.versus

    assert [(g.id, g.settings, g.runs) for g in found.groups] == [
        ("g1", {"lr": "1"}, ("r3", "r4", "r5", "r6")),
        ("g2", {"lr": "0"}, ("r0", "r1", "r2")),
    ]
    assert (versus.better, versus.other) == ("g1", "g2")
    assert versus.difference == pytest.approx(np.mean(b) - np.mean(a))
    assert (versus.p, versus.low, versus.high) == pytest.approx((expected.pvalue, interval.low, interval.high))
    assert versus.decided
    assert versus.seeds is None


def test_higher_is_better_where_the_sign_says_so():
    assert grouped([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], sign=-1.0).groups[0].settings == {"lr": "1"}


@pytest.mark.parametrize("draw", ["standard_normal", "standard_exponential"])
def test_equal_groups_differ_at_the_stated_rate_only(draw):
    """Two groups of five seeds: 5 % of 1,500 pairs, within 3 standard errors; skewed noise gives no more."""
    values = getattr(np.random.default_rng(0), draw)((1500, 2, 5))
    spread = values.var(axis=2, ddof=1)
    n, df = np.full(2, 5.0), np.full(2, 4.0)
    apart = values[:, 0].mean(axis=1) - values[:, 1].mean(axis=1)
    settings = [compared(("a", "b"), d, Spread(s, n, df), 2).decided for d, s in zip(apart, spread, strict=True)]

    assert np.mean(settings) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)
    assert np.mean(settings) >= 0.02


def test_the_best_of_many_equal_groups_is_not_called_better():
    """Eight groups of three seeds, 60 times: 5 % and not more name a difference (8 and more have a chance of 1 %)."""
    rng = np.random.default_rng(1)
    named = sum(any(v.decided for v in grouped(*rng.standard_normal((8, 3))).versus) for _ in range(60))

    assert named <= 7


def test_variances_of_alike_groups_become_one():
    """Where they differ by no more than chance all degrees of freedom count."""
    variance, df = np.array([1.0, 1.1, 0.9, 1.05, 1.0]), np.full(5, 4.0)
    drawn, free = shrunk(variance, df)

    np.testing.assert_allclose(drawn, np.full(5, 1.01))
    np.testing.assert_allclose(free, np.full(5, 20.0))


def test_variances_of_unlike_groups_stay_different():
    rng = np.random.default_rng(2)
    scales = np.geomspace(0.01, 100, 12)
    values = scales[:, None] * rng.standard_normal((12, 6))
    drawn, free = shrunk(values.var(axis=1, ddof=1), np.full(12, 5.0))

    assert bartlett(*values).pvalue < 1e-6
    assert (free < 7).all()
    assert drawn[-1] / drawn[0] > 1e5


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20))
def test_shrunk_variances_lie_between_the_smallest_and_the_largest(variances):
    found, free = shrunk(np.array(variances), np.full(len(variances), 3.0))

    assert (found >= min(variances) * 0.0).all()
    assert np.isfinite(found).all()
    assert (free >= 3.0).all()


def test_the_suggested_number_of_seeds_decides():
    """As many as it asks for decide in about four of five draws (80 % power)."""
    found = grouped([1.0, 1.2, 1.4], [1.1, 1.35, 1.5]).versus[0]
    assert not found.decided
    assert found.seeds is not None
    rng = np.random.default_rng(3)
    sd = np.sqrt(np.mean([np.var([1.0, 1.2, 1.4], ddof=1), np.var([1.1, 1.35, 1.5], ddof=1)]))
    draws = sd * rng.standard_normal((1000, 2, found.seeds)) + np.array([0.0, found.difference])[None, :, None]
    power = (ttest_ind(draws[:, 0], draws[:, 1], axis=1, equal_var=False).pvalue <= 0.05).mean()

    assert power == pytest.approx(0.8, abs=0.06)


def test_without_repeats_nothing_is_known_of_seeds():
    assert "no two runs are equal" in grouped([1.0], [2.0]).why_not


def test_equal_values_are_no_difference():
    versus = grouped([1.0, 1.0], [1.0, 1.0]).versus[0]

    assert (versus.difference, versus.decided) == (0.0, False)
