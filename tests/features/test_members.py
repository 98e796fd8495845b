"""Features of ranks, nodes or devices with metrics of their own."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import members
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


class TestMembers:
    def test_a_rank_that_lags(self, features_of: FeaturesOf) -> None:
        """Rank 2 of four needs twice as long from the middle on."""
        logged = {f"rank{r}/step_time": [1.0 + 0.01 * r] * 100 for r in (0, 1, 3)}
        logged["rank2/step_time"] = [1.0] * 50 + [2.0] * 50
        row = features_of(logged)

        assert row.values["member_count"] == 4
        assert row.values["member_slow_name"] == "rank2"
        assert row.values["member_slow_ratio"] == pytest.approx(2 / 1.01)
        assert row.values["member_slow_share"] == 1.0
        assert row.values["member_slow_first_ratio"] == pytest.approx(1 / 1.01)
        assert row.witnesses["member_slow_metric"].metric == "rank2/step_time"

    def test_throughput_counts_the_other_way(self, features_of: FeaturesOf) -> None:
        """The node with the lowest throughput is the slowest."""
        logged = {f"samples_per_second.node-{n}": [100.0 if n != 1 else 50.0] * 40 for n in range(3)}
        row = features_of(logged).values

        assert (row["member_slow_name"], row["member_slow_ratio"]) == ("node1", pytest.approx(2.0))

    def test_ranks_that_take_turns_do_not_lag(self, features_of: FeaturesOf) -> None:
        """Each is slowest now and then."""
        noise = np.random.default_rng(0).uniform(0.9, 1.1, (4, 400))
        row = features_of({f"step_time/rank_{r}": noise[r].tolist() for r in range(4)}).values

        assert 1.0 <= row["member_slow_ratio"] < 1.05
        assert row["member_slow_share"] < 0.4

    def test_one_member_or_none_is_unknown(self, features_of: FeaturesOf) -> None:
        """There is nothing to compare; a number in another name is no rank."""
        assert features_of({"rank0/step_time": [1.0] * 40}).values["member_count"] is None
        assert features_of({"step_time": [1.0] * 40, "iter_time": [2.0] * 40}).values["member_count"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert members.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
