"""Features of single long waits for data."""

from collections.abc import Callable

import pytest

from loganalyst.features import loader
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


class TestLoader:
    def test_every_eighth_step_waits(self, features_of: FeaturesOf) -> None:
        """Eight workers deliver together, then none is ready: every eighth step waits 4 s, the others take 1 s."""
        wait = [4.0 if i % 8 == 7 else 0.01 for i in range(160)]
        row = features_of({"data_time": wait, "step_time": [w + 1 for w in wait]})

        assert (row.values["data_stall_count"], row.values["data_stall_step"]) == (20, 7)
        assert row.values["data_stall_period"] == 8
        assert row.values["data_stall_time_share"] == pytest.approx(80 / (160 + 80 + 1.4))
        assert row.witnesses["data_stall_step"].metric == "data_time"

    def test_a_loader_that_keeps_up(self, features_of: FeaturesOf) -> None:
        """0 means searched and none found."""
        row = features_of({"data_time": [0.01] * 60, "step_time": [1.0] * 60}).values

        assert (row["data_stall_count"], row["data_stall_time_share"], row["data_stall_period"]) == (0, 0.0, None)

    def test_waits_without_a_rhythm_have_no_period(self, features_of: FeaturesOf) -> None:
        """Distances of 3, 17, 5 and 40 fit no period."""
        stalls = {5, 8, 25, 30, 70}
        wait = [0.9 if i in stalls else 0.01 for i in range(90)]

        assert features_of({"data_time": wait, "step_time": [1.0] * 90}).values["data_stall_period"] is None

    def test_times_in_different_units_are_not_compared(self, features_of: FeaturesOf) -> None:
        """A wait longer than its step is in another unit."""
        assert features_of({"data_time": [20.0] * 60, "step_time": [1.0] * 60}).values["data_stall_count"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert loader.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
