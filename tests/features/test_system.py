"""The machine: memory that grows, reserve that is not used, ranks that lag, loaders that stall."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
RSS = "system/proc.memory.rssMB"


class TestMemory:
    def test_a_leak_grows_all_the_time(self, features_of: FeaturesOf) -> None:
        """From 1,000 MB by 10 MB a reading; what the first quarter loads does not count."""
        row = features_of({RSS: [10.0 * i + (1000 if i else 0) for i in range(401)]})

        assert row.values["host_memory_metric"] == RSS
        assert row.values["host_memory_growth_ratio"] == pytest.approx(4820 / 2180, rel=0.02)
        assert row.values["host_memory_rising_share"] == 1.0
        assert row.values["host_memory_late_share"] == pytest.approx(0.5, abs=0.08)
        assert row.witnesses["host_memory_growth_ratio"].step == 400

    def test_memory_that_settles_is_told_from_a_leak(self, features_of: FeaturesOf) -> None:
        """Filled while the data are read for the first time, then steady: nothing of the growth is late."""
        row = features_of({RSS: [1000.0 + min(5 * i, 1000) for i in range(400)]}).values

        assert row["host_memory_growth_ratio"] > 1.2
        assert row["host_memory_late_share"] == pytest.approx(0.0, abs=0.01)

    def test_steady_memory_does_not_grow(self, features_of: FeaturesOf) -> None:
        """Where nothing grew there is no share of it."""
        row = features_of({RSS: [2000.0] * 100}).values

        assert (row["host_memory_growth_ratio"], row["host_memory_rising_share"]) == (1.0, 0.0)
        assert row["host_memory_late_share"] is None

    def test_the_process_counts_before_the_node(self, features_of: FeaturesOf) -> None:
        """Others may share the node."""
        rising = [50.0 + i for i in range(100)]

        assert features_of({RSS: [2000.0] * 100, "system/memory": rising}).values["host_memory_metric"] == RSS
        assert features_of({"system/memory": rising}).values["host_memory_metric"] == "system/memory"

    def test_the_device_that_grew_most(self, features_of: FeaturesOf) -> None:
        """W&B's gpu.0.memory is the share of time in which memory was accessed, and no memory."""
        logged = {
            "system/gpu.0.memoryAllocated": [40.0] * 100,
            "system/gpu.1.memoryAllocated": [40.0 + 0.2 * i for i in range(100)],
            "system/gpu.1.memory": [1.0 + i for i in range(100)],
        }
        row = features_of(logged).values

        assert row["device_memory_metric"] == "system/gpu.1.memoryAllocated"
        assert row["device_memory_growth_ratio"] == pytest.approx(58.9 / 45.9, rel=0.02)

    def test_a_reserve_that_is_not_used(self, features_of: FeaturesOf) -> None:
        """Allocated against reserved of the same device, at first and at the end."""
        logged = {
            "gpu_mem/allocated": [8.0] * 100,
            "gpu_mem/reserved": [10.0] * 50 + [20.0] * 50,
        }
        row = features_of(logged).values

        assert row["device_memory_idle_share"] == pytest.approx(0.6)
        assert row["device_memory_idle_first"] == pytest.approx(0.2)

    def test_few_readings_tell_nothing(self, features_of: FeaturesOf) -> None:
        """Five readings in four minutes are no trend."""
        row = features_of(
            {RSS: [1.0, 2.0, 3.0, 4.0, 5.0], "gpu_mem/allocated": [1.0] * 5, "gpu_mem/reserved": [2.0] * 5}
        )

        assert {
            k for k, v in row.values.items() if k.startswith(("host_memory", "device_memory")) and v is not None
        } == set()


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


class TestLoader:
    def test_every_eighth_step_waits(self, features_of: FeaturesOf) -> None:
        """Eight workers deliver at once, then none is ready: 4 s of wait in every eighth step of else 1 s."""
        wait = [4.0 if i % 8 == 7 else 0.01 for i in range(160)]
        row = features_of({"data_time": wait, "step_time": [w + 1 for w in wait]})

        assert (row.values["data_stall_count"], row.values["data_stall_step"]) == (20, 7)
        assert row.values["data_stall_period"] == 8
        assert row.values["data_stall_time_share"] == pytest.approx(80 / (160 + 80 + 1.4))
        assert row.witnesses["data_stall_step"].metric == "data_time"

    def test_a_loader_that_keeps_up(self, features_of: FeaturesOf) -> None:
        """Looked and none is 0."""
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
