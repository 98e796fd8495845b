"""Features of attention."""

from collections.abc import Callable

import pytest

from loganalyst.features import attention
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]


def test_attention_that_narrows(features_of: FeaturesOf) -> None:
    """The entropy that fell most counts, from where it stays below half."""
    steady, falling = [4.0] * 40, [4.0] * 20 + [0.4] * 20
    row = features_of({"attn_entropy/layer0": steady, "attn_entropy/layer1": falling}).values

    assert row["attention_entropy_metric"] == "attn_entropy/layer1"
    assert (row["attention_entropy_first"], row["attention_entropy_last"]) == (4.0, 0.4)
    assert row["attention_entropy_last_share"] == pytest.approx(0.1)
    assert row["attention_entropy_low_step"] == 20
    assert features_of({"attn_entropy": steady}).values["attention_entropy_low_step"] is None


def test_growing_attention_logits(features_of: FeaturesOf) -> None:
    """From 5 to 200 is 40 times; an attention entropy is neither a policy entropy nor a logit."""
    row = features_of({"max_attn_logit": [5.0] * 10 + [200.0] * 10, "attn_entropy": [1.0] * 20}).values

    assert (row["attention_logit_last"], row["attention_logit_growth"]) == (200.0, 40.0)
    assert row["entropy_first"] is None


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert attention.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}
