"""Features of a mixture of experts."""

from collections.abc import Callable

import pytest

from loganalyst.features import routing
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_idle_experts_are_counted_within_their_layer(features_of: FeaturesOf) -> None:
    """Of four experts one has 97 % and three are idle; with a quarter each none is idle."""
    even = {f"layer0/expert_load_{i}": [0.25] * 10 for i in range(4)}
    skewed = {f"layer1/expert_load_{i}": [0.97 if i == 2 else 0.01] * 10 for i in range(4)}
    row = features_of(even | skewed).values

    assert (row["expert_count"], row["expert_idle_count"]) == (4, 3)
    assert row["expert_top_share"] == pytest.approx(0.97)
    assert row["expert_top_metric"] == "layer1/expert_load_2"
    assert features_of(even).values["expert_idle_count"] == 0
    assert features_of({"loss": [1.0]}).values["expert_count"] is None


def test_the_entropy_of_a_router_is_no_policy_entropy(features_of: FeaturesOf) -> None:
    """It fell to a twentieth."""
    row = features_of({"router_entropy": [2.0] * 10 + [0.1] * 10}).values

    assert (row["router_entropy_last"], row["router_entropy_share"]) == (0.1, 0.05)
    assert row["entropy_first"] is None


def test_the_overload_of_the_worst_layer(features_of: FeaturesOf) -> None:
    """MaxVio of two layers: neither is taken for an expert."""
    row = features_of({"moe/layer_0/max_vio": [0.2] * 10, "moe/layer_1/max_vio": [0.5] * 3 + [6.0] * 7}).values

    assert (row["expert_overload"], row["expert_overload_metric"]) == (6.0, "moe/layer_1/max_vio")
    assert row["expert_count"] is None


def test_the_overload_by_one_share_of_the_load(context_of: Callable[..., Context]) -> None:
    """The busiest of eight ends with three quarters. In tokens, or without a number of experts, it is not known."""
    shares, config = [0.13] * 3 + [0.75] * 7, {"num_experts": 8}
    largest = routing.compute(context_of({"moe/max_expert_load": shares}, config))
    single = routing.compute(context_of({"moe/expert_0_load": shares}, config))

    assert all(row["expert_overload"][0] == pytest.approx(5.0) for row in (largest, single))
    assert "expert_overload" not in routing.compute(context_of({"moe/max_expert_load": shares}))
    assert "expert_overload" not in routing.compute(context_of({"moe/max_expert_load": [900.0] * 10}, config))
    assert "expert_overload" not in routing.compute(context_of({"moe/expert_0_load": [0.9] * 10}, config))


def test_largest_loads_of_two_layers_are_no_experts(context_of: Callable[..., Context]) -> None:
    """The names differ in the number of the layer."""
    layers = {f"moe/layer_{i}/max_expert_load": [0.2] * 10 for i in range(2)}

    assert "expert_count" not in routing.compute(context_of(layers))


def test_the_loss_for_the_balance_of_experts(features_of: FeaturesOf) -> None:
    """It grew to eight times its first level; another auxiliary loss is none for balance."""
    row = features_of(
        {"loss": [3.0] * 20, "load_balancing_loss": [1.0] * 10 + [8.0] * 10, "aux_loss": [1.0] * 20}
    ).values

    assert (row["balance_loss_metric"], row["balance_loss_last"]) == ("load_balancing_loss", 8.0)
    assert row["balance_loss_growth"] == 8.0


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert routing.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
