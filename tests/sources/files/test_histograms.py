"""Histograms as moments and quantiles."""

import math

import numpy as np
import pytest

from loganalyst.sources.files.histograms import Moments, describe, frame


def test_without_moments_the_middle_of_each_bucket_counts() -> None:
    found = describe(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([1.0, 3.0]))

    assert (found["count"], found["mean"], found["min"], found["max"]) == (4.0, 1.25, 0.0, 2.0)
    assert found["std"] == pytest.approx(math.sqrt((0.25 + 3 * 2.25) / 4 - 1.25**2))
    assert found["quantiles"] == pytest.approx([0, 0.2, 1.0, 4 / 3, 5 / 3, 1.9333333, 2])
    assert found["zeros"] is None  # the bucket from 0 to 1 is too wide


def test_stored_moments_count_more() -> None:
    moments = Moments(minimum=0.5, maximum=1.5, number=4, total=4, squares=4.5)
    found = describe(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([1.0, 3.0]), moments)

    assert (found["mean"], found["min"], found["max"]) == (1.0, 0.5, 1.5)
    assert found["std"] == pytest.approx(math.sqrt(0.125))


def test_zeros_are_counted_in_narrow_buckets() -> None:
    edges = np.array([-1.0, -1e-12, 1e-12])
    found = describe(edges, np.array([-1e-12, 1e-12, 1.0]), np.array([1.0, 5.0, 2.0]))

    assert found["zeros"] == 5.0


def test_empty_histograms() -> None:
    assert describe(np.array([0.0]), np.array([1.0]), np.array([0.0])) == {"count": 0.0}
    assert frame([], "x").height == 0


def test_rows() -> None:
    row = {"metric": "w", "step": 3, "time": 1.0, "count": 2.0, "mean": 0.5}
    found = frame([row], "a.tfevents").row(0, named=True)

    assert (found["metric"], found["step"], found["count"], found["mean"], found["std"]) == ("w", 3, 2.0, 0.5, None)
    assert (found["source"], found["time"].year) == ("a.tfevents", 1970)
