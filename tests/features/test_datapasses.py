"""Features of passes over the data."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from loganalyst.features import datapasses
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]


def passes(course: list[float]) -> pl.DataFrame:
    """A training loss with 20 points in each pass."""
    epochs = [i / 20 for i in range(len(course))]
    return table(
        "points",
        {
            "session": 0,
            "metric": "loss",
            "step": list(range(len(course))),
            "epoch": epochs,
            "value": course,
            "source": "m.csv",
        },
    )


def test_a_staircase_falls_at_the_ends_of_passes(features_of: FeaturesOf) -> None:
    """A loss that falls only there has a share of 1; an even fall has about a tenth."""
    stairs = features_of({}, points=passes([4.0] * 20 + [3.0] * 20 + [2.0] * 20 + [1.0] * 20)).values
    even = features_of({}, points=passes(np.linspace(4, 1, 80).tolist())).values

    assert (stairs["epoch_points"], stairs["run_epochs"]) == (20, pytest.approx(3.95))
    assert stairs["epoch_drop_share"] == 1.0
    assert stairs["epoch_drop_relative"] == pytest.approx(1 / 3)
    assert even["epoch_drop_share"] < 0.2


@pytest.mark.parametrize(("first", "done"), [(0, 3.0), (1, 3.0)])
def test_the_last_numbered_pass_counts(features_of: FeaturesOf, first: int, done: float) -> None:
    """Three passes are numbered 0 to 2 or 1 to 3."""
    points = passes([3.0, 2.0, 1.0]).with_columns(epoch=pl.Series([float(first + k) for k in range(3)]))

    assert features_of({}, points=points).values["run_epochs"] == done


def test_samples_in_the_same_order_repeat_the_course(features_of: FeaturesOf) -> None:
    """A fixed order repeats the ups and downs, a shuffled one does not; without epochs nothing is known."""
    draw = np.random.default_rng(0)
    order = draw.normal(0, 0.1, 20)
    same = features_of({}, points=passes(np.concatenate([3 - 0.3 * k + order for k in range(5)]).tolist())).values
    shuffled = features_of({}, points=passes((3 + draw.normal(0, 0.1, 100)).tolist())).values

    assert same["epoch_repeat"] == pytest.approx(1.0)
    assert abs(shuffled["epoch_repeat"]) < 0.4
    assert features_of({"loss": [1.0] * 100}).values["epoch_repeat"] is None


def test_passes_without_finite_values_are_not_compared(features_of: FeaturesOf) -> None:
    """A loss of NaN only has no passes."""
    row = features_of({}, points=passes([float("nan")] * 80)).values

    assert row["run_epochs"] == pytest.approx(3.95)
    assert row["epoch_points"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert datapasses.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {"run_epochs": None}
