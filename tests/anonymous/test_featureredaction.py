"""What stays of the features of a run."""

import math

import pytest

from loganalyst.anonymous.featureredaction import features_of, numbered
from loganalyst.model import FeatureValue


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("train_loss_last", 0.5, 0.5),
        ("train_loss_metric", "acme/loss", "anona/loss"),  # the alias of the metric
        ("train_loss_metric", "private", None),
        ("log_root_label", "cuda_oom", "cuda_oom"),
        ("log_root_message", "lost /home/me", None),
        ("not_a_feature", 1, None),
    ],
)
def test_numbers_aliases_and_known_words_stay(name: str, value: FeatureValue, kept: FeatureValue) -> None:
    assert features_of({name: value}, {"acme/loss": "anona/loss"}).get(name) == kept


def test_words_for_infinite_numbers_become_numbers_for_float_features_only() -> None:
    found = numbered({"train_loss_last": "Infinity", "train_loss_best": "NaN", "log_root_label": "NaN"})

    assert found["train_loss_last"] == math.inf
    assert isinstance(found["train_loss_best"], float)
    assert math.isnan(found["train_loss_best"])
    assert found["log_root_label"] == "NaN"
