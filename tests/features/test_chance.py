"""Features of guessing."""

from collections.abc import Callable

import numpy as np
import pytest

from loganalyst.features import chance
from loganalyst.features.context import Context
from loganalyst.model import Features

FeaturesOf = Callable[..., Features]
NOISE = np.random.default_rng(0).normal(0, 0.005, 300)


def pinned(classes: int) -> list[float]:
    return list(np.log(classes) * (1 + NOISE))


def test_a_loss_of_guessing(features_of: FeaturesOf) -> None:
    """A loss pinned at ln K gives K, any other loss 0. Without a K from the config or an accuracy it is not known."""
    accuracy = [0.1] * 10
    assert features_of({"loss": pinned(10), "val_acc": accuracy}).values["train_loss_chance_classes"] == 10
    assert features_of({"loss": pinned(10)}, {"num_classes": 10}).values["train_loss_chance_classes"] == 10
    assert features_of({"loss": pinned(10), "val_acc": [0.7] * 10}).values["train_loss_chance_classes"] is None
    assert features_of({"loss": pinned(10)}).values["train_loss_chance_classes"] is None
    assert features_of({"loss": (0.9 + NOISE).tolist()}, {"num_classes": 10}).values["train_loss_chance_classes"] == 0


def test_an_accuracy_of_guessing(features_of: FeaturesOf) -> None:
    """An accuracy that stays at 1/K gives K, as a share or in per cent."""
    assert features_of({"val_acc": [0.5] * 5}).values["val_score_chance_classes"] == 2
    assert features_of({"val_acc": [10.0] * 5}).values["val_score_chance_classes"] == 10
    assert features_of({"val_acc": [0.5, 0.6, 0.7]}).values["val_score_chance_classes"] == 0
    assert features_of({"val_acc": [0.111] * 5}).values["val_score_chance_classes"] == 9
    assert features_of({"val_acc": [0.111] * 5}, {"num_classes": 10}).values["val_score_chance_classes"] != 9
    assert features_of({"loss": pinned(10), "val_acc": [0.111] * 5}).values["val_score_chance_classes"] == 10
    assert features_of({"loss": pinned(10), "val_acc": [0.125] * 5}).values["val_score_chance_classes"] == 0


def test_an_accuracy_that_rises_steadily_is_no_guessing(features_of: FeaturesOf) -> None:
    """6 to 9.5 % lies around 1/15; noise around 1/15 does not rise."""
    late = np.r_[np.full(20, 0.067), np.linspace(0.07, 0.095, 10)]

    assert features_of({"val_acc": late.tolist()}).values["val_score_chance_classes"] == 0
    assert features_of({"val_acc": np.linspace(0.06, 0.09, 30).tolist()}).values["val_score_chance_classes"] == 0
    noise = 1 / 15 + 0.004 * np.sin(np.arange(30) * 2.4)
    assert features_of({"val_acc": noise.tolist()}).values["val_score_chance_classes"] == 15


def test_a_low_accuracy_between_two_chances_is_no_guessing(features_of: FeaturesOf) -> None:
    """7.87 % is nearer to 1/13 than to 1/12, and yet at neither; a config with 13 classes settles it."""
    logged = {"val_acc": [7.87, 7.85, 7.88, 7.87]}

    assert features_of(logged).values["val_score_chance_classes"] == 0
    assert features_of(logged, {"num_classes": 13}).values["val_score_chance_classes"] == 13


def test_many_classes_count_only_if_configured(features_of: FeaturesOf) -> None:
    """A loss of ln 50257 or an accuracy of 1/200 means nothing alone; with the config, both are guessing."""
    logged = {"loss": pinned(50_257), "val_acc": [0.005, 0.006, 0.004, 0.005]}
    alone, configured = features_of(logged), features_of(logged, {"model.vocab_size": 50_257, "data.num_classes": 200})

    assert alone.values["train_loss_chance_classes"] is None
    assert configured.values["train_loss_chance_classes"] == 50_257
    assert configured.values["val_score_chance_classes"] == 200
    assert configured.values["config_classes"] == 50_257


def test_an_accuracy_shows_a_thousand_classes(features_of: FeaturesOf) -> None:
    """A loss that begins and ends at ln 1000 is guessing; a loss that came down to it is not."""
    guessed = [0.001] * 10
    falling = np.linspace(7.6, np.log(1000), 300) + NOISE
    falling[90:] = np.log(1000) + NOISE[90:]

    assert features_of({"loss": pinned(1000), "val_acc": guessed}).values["train_loss_chance_classes"] == 1000
    assert features_of({"loss": falling.tolist(), "val_acc": guessed}).values["train_loss_chance_classes"] == 0


def test_the_first_loss_relative_to_guessing(features_of: FeaturesOf) -> None:
    """Three times ln K at the start, if K is known and the loss is not a sum of terms."""
    loss = np.geomspace(3 * np.log(100), 1.0, 50).tolist()
    row = features_of({"loss": loss}, {"num_classes": 100})

    assert row.values["train_loss_first_chance_ratio"] == pytest.approx(3.0, rel=0.06)
    assert row.values["train_loss_last_chance_ratio"] == pytest.approx(1 / np.log(100), rel=0.15)
    assert features_of({"loss": loss}).values["train_loss_first_chance_ratio"] is None
    terms = features_of({"loss": loss, "loss_box": loss, "loss_cls": loss}, {"num_classes": 100})
    assert terms.values["train_loss_first_chance_ratio"] is None


def test_the_losses_after_the_first(features_of: FeaturesOf) -> None:
    """The first update multiplied the loss by five; too few losses say nothing."""
    assert features_of({"loss": [2.0, 10.0, 10.2, 9.8, 10.0, 9.9]}).values["train_loss_after_first_ratio"] == 5.0
    assert features_of({"loss": [2.0, 10.0, 10.2]}).values["train_loss_after_first_ratio"] is None


def test_smoothed_labels_have_a_loss_floor(features_of: FeaturesOf) -> None:
    """With 0.1 among 10 classes it is the entropy of (0.91, 9 times 0.01)."""
    floor = -0.91 * np.log(0.91) - 0.09 * np.log(0.01)
    row = features_of({"loss": [0.55] * 10}, {"label_smoothing": 0.1, "num_classes": 10}).values

    assert row["train_loss_floor"] == pytest.approx(floor)
    assert row["train_loss_floor_ratio"] == pytest.approx(0.55 / floor)
    assert features_of({"loss": [0.55] * 10}, {"num_classes": 10}).values["train_loss_floor"] is None


def test_a_loss_that_came_down_to_ln_k_is_no_guess(features_of: FeaturesOf) -> None:
    """A language model that falls to 2.485 does not guess among 12 classes; a loss thrown there at once does."""
    noise = np.random.default_rng(1).normal(0, 0.01, 300)
    falling = np.log(12) + 4 * np.exp(-np.arange(300) / 40) + noise
    thrown = np.log(12) + 30 * np.exp(-np.arange(300) / 5) + noise

    assert features_of({"loss": falling.tolist()}, {"num_classes": 12}).values["train_loss_chance_classes"] == 0
    assert features_of({"loss": thrown.tolist()}, {"num_classes": 12}).values["train_loss_chance_classes"] == 12


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert chance.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {"config_classes": None}


def test_a_loss_at_ln_k_with_many_right_is_no_guess(features_of: FeaturesOf) -> None:
    """A loss of ln 4 that does not move: guessing with 26 % right; with 61 % right nothing shows that K is 4."""
    loss = pinned(4)
    guessed = features_of({"loss": loss, "train_accuracy": [0.26] * 300}).values
    learned = features_of({"loss": loss, "val_accuracy": [61.0] * 300}).values

    assert (guessed["train_loss_chance_classes"], learned["train_loss_chance_classes"]) == (4, None)


def test_a_model_with_named_labels_chooses_among_them(features_of: FeaturesOf) -> None:
    """Its vocabulary is its input. The pair of names that every model has by default says nothing."""

    def classes(*names: str) -> object:
        labels = {f"model_config.id2label.{n}": name for n, name in enumerate(names)}
        settings: dict[str, str | float] = {"model_config.vocab_size": 64, **labels}
        return features_of({"loss": [1.0] * 10}, settings).values["config_classes"]

    assert classes("LABEL_0", "LABEL_1", "LABEL_2") == 3
    assert classes("LABEL_0") is None  # a reward model has one output
    assert classes("no", "yes") == 2
    assert classes("LABEL_0", "LABEL_1") == 64
    assert classes() == 64


def test_the_share_of_right_tokens_has_no_classes(features_of: FeaturesOf) -> None:
    """One token in four right is far better than guessing."""
    assert features_of({"eval_mean_token_accuracy": [0.25] * 5}).values["val_score_chance_classes"] is None


def test_a_loss_that_rises_at_once_begins_at_its_first_value(features_of: FeaturesOf) -> None:
    """The first level of a run with too high a rate is not that of the untrained model."""
    first = np.log(10)
    row = features_of({"loss": [first, 2 * first, 3 * first, 3 * first]}, {"num_classes": 10}).values

    assert row["train_loss_first_chance_ratio"] == pytest.approx(1.0)
