"""Features of memory."""

from collections.abc import Callable

import pytest

from loganalyst.features import memory
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
RSS = "system/proc.memory.rssMB"


class TestMemory:
    def test_a_leak_grows_all_the_time(self, features_of: FeaturesOf) -> None:
        """From 1,000 MB by 10 MB per reading, without the first quarter, which loads."""
        row = features_of({RSS: [10.0 * i + (1000 if i else 0) for i in range(401)]})

        assert row.values["host_memory_metric"] == RSS
        assert row.values["host_memory_growth_ratio"] == pytest.approx(4820 / 2180, rel=0.02)
        assert row.values["host_memory_rising_share"] == 1.0
        assert row.values["host_memory_late_share"] == pytest.approx(0.5, abs=0.08)
        assert row.witnesses["host_memory_growth_ratio"].step == 400

    def test_memory_that_settles_is_no_leak(self, features_of: FeaturesOf) -> None:
        """It fills during the first pass over the data, then stays."""
        row = features_of({RSS: [1000.0 + min(5 * i, 1000) for i in range(400)]}).values

        assert row["host_memory_growth_ratio"] > 1.2
        assert row["host_memory_late_share"] == pytest.approx(0.0, abs=0.01)

    def test_steady_memory_does_not_grow(self, features_of: FeaturesOf) -> None:
        """Without growth there is no share of it."""
        row = features_of({RSS: [2000.0] * 100}).values

        assert (row["host_memory_growth_ratio"], row["host_memory_rising_share"]) == (1.0, 0.0)
        assert row["host_memory_late_share"] is None

    def test_the_process_counts_before_the_node(self, features_of: FeaturesOf) -> None:
        """Others may share the node."""
        rising = [50.0 + i for i in range(100)]

        assert features_of({RSS: [2000.0] * 100, "system/memory": rising}).values["host_memory_metric"] == RSS
        assert features_of({"system/memory": rising}).values["host_memory_metric"] == "system/memory"

    def test_the_device_that_grew_most(self, features_of: FeaturesOf) -> None:
        """W&B's gpu.0.memory is the share of time with memory access, and no memory."""
        logged = {
            "system/gpu.0.memoryAllocated": [40.0] * 100,
            "system/gpu.1.memoryAllocated": [40.0 + 0.2 * i for i in range(100)],
            "system/gpu.1.memory": [1.0 + i for i in range(100)],
        }
        row = features_of(logged).values

        assert row["device_memory_metric"] == "system/gpu.1.memoryAllocated"
        assert row["device_memory_growth_ratio"] == pytest.approx(58.9 / 45.9, rel=0.02)

    def test_an_unused_reserve(self, features_of: FeaturesOf) -> None:
        """Allocated relative to reserved memory of the same device, at the start and at the end."""
        logged = {
            "gpu_mem/allocated": [8.0] * 100,
            "gpu_mem/reserved": [10.0] * 50 + [20.0] * 50,
        }
        row = features_of(logged).values

        assert row["device_memory_idle_share"] == pytest.approx(0.6)
        assert row["device_memory_idle_first"] == pytest.approx(0.2)

    def test_few_readings_have_no_trend(self, features_of: FeaturesOf) -> None:
        """Five readings in four minutes."""
        row = features_of(
            {RSS: [1.0, 2.0, 3.0, 4.0, 5.0], "gpu_mem/allocated": [1.0] * 5, "gpu_mem/reserved": [2.0] * 5}
        )

        assert {
            k for k, v in row.values.items() if k.startswith(("host_memory", "device_memory")) and v is not None
        } == set()


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert memory.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
