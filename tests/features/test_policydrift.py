"""Features of a policy that moves away from its earlier self, its reference or its sampler."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import policydrift
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_a_policy_that_leaves_its_reference(features_of: FeaturesOf) -> None:
    """First, last and largest divergence, and its growth; the size of updates is another matter."""
    row = features_of({"objective/kl": np.linspace(1, 41, 101), "env/reward_mean": np.arange(101.0)}).values

    assert row["reference_kl_metric"] == "objective/kl"
    assert row["reference_kl_first"] == pytest.approx(1.4)
    assert row["reference_kl_last"] == pytest.approx(39.2, abs=0.3)
    assert row["reference_kl_growth"] == pytest.approx(39.2 / 1.4, rel=0.02)
    assert (row["reference_kl_max"], row["reference_kl_max_step"]) == (41.0, 100)
    assert row["approx_kl_typical"] is None


def test_the_size_of_updates(features_of: FeaturesOf) -> None:
    """Median and largest divergence, and the share of updates above the limit of 0.05."""
    row = features_of({"ep_rew_mean": [1.0] * 20, "approx_kl": [0.01] * 15 + [0.2] * 5}).values

    assert (row["approx_kl_typical"], row["approx_kl_max"], row["policy_kl_over_limit_share"]) == (0.01, 0.2, 0.25)
    assert row["reference_kl_last"] is None


def test_a_sampler_that_drifts_away(features_of: FeaturesOf) -> None:
    """The mean ratio counts, not the largest; the difference of log-probabilities grows."""
    sampling = "sampling/importance_sampling_ratio"
    row = features_of(
        {
            "reward": [0.5] * 20, "reward_std": [0.1] * 20, "frac_reward_zero_std": [0.1] * 20,
            f"{sampling}/max": [2.0] * 30, f"{sampling}/mean": [1.0] * 10 + [0.25] * 10,
            "sampling/sampling_logp_difference/mean": [0.02] * 10 + [0.5] * 10,
        }
    ).values  # fmt: skip

    assert row["importance_ratio_metric"] == f"{sampling}/mean"
    assert (row["importance_ratio_first"], row["importance_ratio_last"]) == (1.0, 0.25)
    assert (row["sampler_difference_last"], row["sampler_difference_growth"]) == (0.5, pytest.approx(25.0))


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert policydrift.compute(context_of({"other": [1.0, 2.0, 3.0], "approx_kl": [float("nan")] * 3})) == {}


def test_the_age_of_answers(context_of: Callable[..., Context]) -> None:
    """As logged, and as the settings allow; passes count only where answers are drawn."""
    logged = {
        "off_policy_level/all/mean": [1.0] * 10 + [12.0] * 10,
        "reward/mean": [0.5] * 20,
        "is_truncated/mean": [0.1] * 20,
    }
    logged |= {"batch/solve_none": [0.1] * 20, "batch/solve_all": [0.1] * 20}  # as prime-rl does
    settings = {"max_off_policy_steps": 16, "num_iterations": 8, "use_importance_sampling_correction": False}
    row = policydrift.compute(context_of(logged, settings))

    assert row["policy_age_last"][0] == 12
    assert (row["config_policy_age"], row["config_ratio_corrected"], row["config_passes_per_answers"]) == (16, False, 8)
    bare = policydrift.compute(context_of({"loss": [1.0] * 20}, {"num_iterations": 8}))
    assert bare == {}
