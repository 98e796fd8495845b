"""Features without names."""

import math

from loganalyst.anonymous.featureredaction import features_of, numbered


def test_only_known_words_numbers_and_replaced_metrics_stay() -> None:
    values = {
        "checkpoint_dead_metric": "acme",
        "checkpoint_unreadable_text": "zq cannot be read",
        "checkpoint_last_step": 7,
    }

    assert features_of(values | {"zqfeature": 1}, {"acme": "anona"}) == {
        "checkpoint_dead_metric": "anona", "checkpoint_last_step": 7
    }  # fmt: skip


def test_words_for_nonfinite_numbers_become_numbers() -> None:
    found = numbered({"checkpoint_dead_share": "Infinity", "checkpoint_dead_metric": "Infinity"})

    assert found == {"checkpoint_dead_share": math.inf, "checkpoint_dead_metric": "Infinity"}
