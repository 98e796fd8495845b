"""Attention, embeddings, experts, modules: what single parts of a model say."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_attention_that_narrows_is_seen_with_its_place(features_of: FeaturesOf) -> None:
    """The entropy that fell most counts; its place is where it fell below half for good."""
    steady, falling = [4.0] * 40, [4.0] * 20 + [0.4] * 20
    row = features_of({"attn_entropy/layer0": steady, "attn_entropy/layer1": falling}).values

    assert row["attention_entropy_metric"] == "attn_entropy/layer1"
    assert (row["attention_entropy_first"], row["attention_entropy_last"]) == (4.0, 0.4)
    assert row["attention_entropy_last_share"] == pytest.approx(0.1)
    assert row["attention_entropy_low_step"] == 20
    assert features_of({"attn_entropy": steady}).values["attention_entropy_low_step"] is None


def test_attention_logits_that_grow_are_seen(features_of: FeaturesOf) -> None:
    """From 5 to 200 is 40 times; an attention entropy is no policy entropy and no logit."""
    row = features_of({"max_attn_logit": [5.0] * 10 + [200.0] * 10, "attn_entropy": [1.0] * 20}).values

    assert (row["attention_logit_last"], row["attention_logit_growth"]) == (200.0, 40.0)
    assert row["entropy_first"] is None


def test_a_spike_of_the_embedding_gradient_is_set_beside_the_others(features_of: FeaturesOf) -> None:
    """The embedding rose to 50 times its median at step 30, the other layer to twice."""
    embedding, other = np.ones(60), np.ones(60)
    embedding[30], other[30] = 50.0, 2.0
    row = features_of({"grad_norm/embed_tokens": embedding.tolist(), "grad_norm/layer1": other.tolist()}).values

    assert (row["embedding_grad_rise_ratio"], row["embedding_grad_rise_step"]) == (50.0, 30)
    assert row["embedding_grad_over_others"] == 25.0
    assert features_of({"grad_norm/layer1": other.tolist()}).values["embedding_grad_rise_ratio"] is None


def test_representations_that_shrink_to_a_point_are_seen(features_of: FeaturesOf) -> None:
    """The spread fell from 1 to 0.01 and stayed below a tenth from step 12 on."""
    row = features_of({"embedding_std": [1.0] * 12 + [0.01] * 28}).values

    assert row["representation_spread_share"] == pytest.approx(0.01)
    assert row["representation_spread_low_step"] == 12
    assert features_of({"embedding_std": [1.0] * 40}).values["representation_spread_low_step"] is None


def test_idle_experts_are_counted_within_their_layer(features_of: FeaturesOf) -> None:
    """Of four experts one has 97 % and three are idle; four with a quarter each are not."""
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


def test_modules_are_compared_by_their_middle_layers(features_of: FeaturesOf) -> None:
    """The decoder has 1,000 times the gradient of the encoder; layers of one module are not two modules."""
    logged = {f"grad_norm/{m}.{i}": [s] * 10 for m, s in (("encoder", 0.001), ("decoder", 1.0)) for i in (0, 1)}
    row = features_of(logged).values

    assert (row["module_count"], row["module_grad_low"], row["module_grad_high"]) == (2, "encoder", "decoder")
    assert row["module_grad_ratio"] == pytest.approx(1000)
    assert features_of({"grad_norm/fc1": [1.0] * 9, "grad_norm/fc2": [9.0] * 9}).values["module_count"] is None
