"""Accuracies lost for others, terms that stand still, policies that run away, discriminators that are never wrong."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import components
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
UP = np.linspace(0.1, 0.9, 10)


def test_an_accuracy_lost_for_another(features_of: FeaturesOf) -> None:
    """Task a is learned and lost while task b is learned."""
    a, b = [*UP, *UP[::-1]], [*[0.1] * 10, *UP]
    row = features_of({"val/acc_a": a, "val/acc_b": b}).values

    assert (row["forgotten_metric"], row["forgotten_for_metric"]) == ("val/acc_a", "val/acc_b")
    assert row["forgotten_share"] == pytest.approx(0.8, abs=0.15)
    assert row["forgotten_step"] in {9, 10}
    assert row["forgotten_for_gain"] == pytest.approx(0.75, abs=0.1)


def test_one_accuracy_forgets_nothing(features_of: FeaturesOf) -> None:
    """With a single accuracy it is not known; where all rise the share is 0."""
    assert features_of({"val/acc": [*UP, *UP[::-1]]}).values["forgotten_share"] is None
    assert features_of({"val/acc_a": [*UP], "val/acc_b": [*UP]}).values["forgotten_share"] == pytest.approx(0, abs=0.01)


def test_terms_that_stand_still(features_of: FeaturesOf) -> None:
    """One term is 0, one has a single value, one falls."""
    falling = np.linspace(1, 0.1, 40)
    row = features_of({"loss_a": falling, "loss_b": [0.0] * 40, "loss_c": [*falling[:15], *[0.3] * 25]}).values

    assert (row["component_zero_count"], row["component_zero_metric"]) == (1, "loss_b")
    assert (row["component_constant_count"], row["component_constant_metric"]) == (1, "loss_c")
    assert features_of({"loss_a": falling, "loss_b": falling}).values["component_zero_count"] == 0
    assert features_of({"loss_a": [0.0] * 5}).values["component_zero_count"] is None


def test_a_policy_that_runs_away(features_of: FeaturesOf) -> None:
    """Divergence from the reference: typical, last, and how much it grew."""
    row = features_of({"objective/kl": np.linspace(1, 41, 101), "env/reward_mean": np.arange(101.0)}).values

    assert row["approx_kl_typical"] == 21
    assert row["approx_kl_last"] == pytest.approx(39.2, abs=0.3)
    assert row["approx_kl_growth"] == pytest.approx(39.2 / 1.4, rel=0.02)


def test_groups_without_a_difference(features_of: FeaturesOf) -> None:
    """Half of the last advantages are 0; nine in ten groups tie."""
    row = features_of({"reward": [0.1] * 40, "advantages/std": [*[1.0] * 20, *[0.0, 1.0] * 10],
                       "frac_reward_zero_std": [0.9] * 40}).values  # fmt: skip

    assert (row["advantage_zero_share"], row["reward_tie_last"]) == (0.5, 0.9)


def test_what_the_discriminator_says(features_of: FeaturesOf) -> None:
    """Its accuracy as a share, or the distance of its scores."""
    assert features_of({"d_acc": [50.0, 99.0]}).values["discriminator_accuracy_last"] == 0.99
    row = features_of({"D(x)": [0.5] * 9 + [0.99], "D(G(z))": [0.5] * 9 + [0.01]}).values
    assert row["discriminator_margin_last"] == pytest.approx(0.98)
    assert row["discriminator_accuracy_last"] is None


def test_quality_of_samples(features_of: FeaturesOf) -> None:
    """A distance that rises again, text that repeats itself."""
    fid = [*np.linspace(100, 20, 20), *[20.0] * 10, *np.linspace(20, 60, 20)]
    row = features_of({"fid": fid, "rep_4": [0.7] * 10, "distinct_2": [0.1] * 10}).values

    assert row["sample_distance_rise_ratio"] == pytest.approx(60 / 20, rel=0.1)
    assert (row["repetition_last"], row["diversity_last"]) == (0.7, 0.1)


def test_solved_tasks_lost_again(features_of: FeaturesOf) -> None:
    """A quarter of the best success rate is lost; the value function's loss rose tenfold."""
    row = features_of({"success_rate": [*np.linspace(0, 0.8, 20), *[0.8] * 10, *[0.6] * 30], "reward": [0.1] * 60,
                       "value_loss": [*np.linspace(2, 1, 30), *[10.0] * 30]}).values  # fmt: skip

    assert row["success_loss_from_best"] == pytest.approx(0.25, abs=0.03)
    assert row["success_rate_last"] == pytest.approx(0.6)
    assert row["value_loss_rise_ratio"] == pytest.approx(10, rel=0.1)


def test_a_term_that_fell_and_came_back_is_not_stuck(features_of: FeaturesOf) -> None:
    """It was learned once; one that never fell was not."""
    falling = np.geomspace(2.0, 0.02, 100)
    lost = np.concatenate([np.geomspace(2.0, 0.1, 80), np.full(20, 1.8)])
    row = features_of({"loss_a": falling, "loss_b": lost}).values

    assert row["component_stuck_share"] == 0.0
    never = features_of({"loss_a": falling, "loss_b": np.full(100, 1.8)}).values
    assert (never["component_stuck_metric"], never["component_stuck_ratio"]) == ("loss_b", 1.0)


def test_a_term_without_a_finite_value_has_no_lowest_level() -> None:
    """As where its weight is infinite; the other terms have theirs."""
    lowest = components._lowest(np.array([[np.inf] * 4, [3.0, 2.0, 1.0, 2.0]]))

    assert np.isnan(lowest[0])
    assert lowest[1] == 1.0


def test_a_term_is_drowned_by_what_it_was_for_most_of_the_run(features_of: FeaturesOf) -> None:
    """Though it is more of the sum at the end, when the other has fallen."""
    large = np.concatenate([np.full(90, 1000.0), np.full(10, 30.0)])
    row = features_of({"loss_a": large, "loss_b": np.full(100, 2.0)}).values

    assert (row["component_drowned_count"], row["component_drowned_metric"]) == (1, "loss_b")
    assert row["component_top_share"] == 30 / 32
    assert features_of({"loss_a": large[::-1], "loss_b": np.full(100, 20.0)}).values["component_drowned_count"] == 1
    assert (
        features_of({"loss_a": np.full(100, 30.0), "loss_b": np.full(100, 2.0)}).values["component_drowned_count"] == 0
    )
