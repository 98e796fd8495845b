"""The figures of answered runs."""

import math

import numpy as np
import polars as pl
import pytest

from loganalyst.evaluate.accuracy import bins, brier, by_class, calibration_error, chance_error, figures, share
from tests.evaluate.evaluatedruns import table


def test_an_accepted_answer_counts_as_the_label_of_the_run() -> None:
    """A wrong answer counts against the precision of its label and the recall of the true one."""
    found = by_class(
        table(
            ("a", "a", True, 0.9),
            ("a", "x", True, 0.9),
            ("a", "b", False, 0.9),
            ("b", "b", True, 0.9),
            ("healthy", "healthy", True, 0.9),
        )
    )

    assert found["a"] == {"runs": 3, "recall": pytest.approx(2 / 3), "precision": 1.0, "f1": pytest.approx(0.8)}
    assert found["b"] == {"runs": 1, "recall": 1.0, "precision": 0.5, "f1": pytest.approx(2 / 3)}
    assert set(found) == {"a", "b", "healthy"}


def test_figures() -> None:
    """Each share is among its runs. A run without an answer has no confidence and is wrong."""
    rows = [
        ("a", "a", True, 0.95),
        ("a", "b", False, 0.6),
        ("healthy", "healthy", True, 0.8),
        ("healthy", "a", False, 0.9),
    ]
    found = figures(table(*rows, ("a", "none", False, None)))

    assert (found["runs"], found["judged"]) == (5, 4)
    assert (found["first"]["value"], found["sick_first"]["of"]) == (pytest.approx(2 / 5), 3)
    assert (found["false_alarms"]["value"], found["false_alarms"]["of"]) == (0.5, 2)
    assert found["sure_right"]["value"] == 0.5
    assert found["brier"]["value"] == pytest.approx((0.05**2 + 0.6**2 + 0.2**2 + 0.9**2) / 4)
    assert found["groups"]["family"] == {"f": {"runs": 5, "first": pytest.approx(0.4), "three": pytest.approx(0.4)}}
    assert found["onset"] == {"runs": 2, "median": 10.0, "near": 1.0}


def test_calibration_error_is_the_mean_distance_of_the_bins() -> None:
    """Two bins: 0.55 stated and half right, 1.0 stated (which lies in the last bin) and all right."""
    sure, right = np.array([0.55, 0.55, 1.0, 1.0]), np.array([True, False, True, True])

    assert [(b["confidence"], b["right"], b["of"]) for b in bins(sure, right)] == [(0.55, 0.5, 2), (1.0, 1.0, 2)]
    assert calibration_error(sure, right) == pytest.approx(0.025)
    assert brier(sure, right) == pytest.approx((0.45**2 + 0.55**2) / 4)


def test_the_error_of_chance_falls_with_the_number_of_answers() -> None:
    """One bin of n answers at p: the mean distance of a binomial share, about sqrt(2 p (1 - p) / (pi n))."""
    few, many = (chance_error(np.full(n, 0.85)) for n in (40, 4000))

    assert few == pytest.approx(np.sqrt(2 * 0.85 * 0.15 / (np.pi * 40)), rel=0.1)
    assert many == pytest.approx(few / 10, rel=0.15)
    assert chance_error(np.ones(9)) == 0.0


def test_share_has_wilsons_interval() -> None:
    """The published value for 8 of 10; NaN without runs."""
    found = share(pl.Series([True] * 8 + [False] * 2))

    assert (found["value"], found["of"]) == (0.8, 10)
    assert (found["low"], found["high"]) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert math.isnan(share(pl.Series([], dtype=pl.Boolean))["value"])
