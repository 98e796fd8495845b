"""Of which data a metric is whose name does not say it."""

import pytest

from loganalyst.curves.datasplits import changes
from tests.curves.curvesof import Logged, claims_of, curves_of

LOSS = [2.5 * 0.9**k for k in range(20)]
ABOVE = [x + 0.1 for x in LOSS]


def changed(logged: Logged, source: str | None = None, steps: dict[str, list[int]] | None = None) -> dict[str, str]:
    """The roles that change."""
    found = changes(curves_of(logged, source, steps), claims_of(*logged))
    return {metric: claim.role.name for metric, claim in found.items()}


@pytest.mark.parametrize(
    ("source", "role"),
    [
        ("validation/events.out.tfevents.1", {"accuracy": "val_accuracy"}),
        ("logs/eval/metrics.csv", {"accuracy": "val_accuracy"}),
        ("val.csv", {"accuracy": "val_accuracy"}),
        ("test/metrics.csv", {}),  # perhaps a trial of the program
        ("evaluations.csv", {}),
        ("train/metrics.csv", {}),
        (None, {}),
    ],
)
def test_the_file_says_it(source: str | None, role: dict[str, str]) -> None:
    assert changed({"accuracy": LOSS}, source) == role


def test_a_name_that_says_it_wins() -> None:
    assert changed({"train_accuracy": LOSS}, "validation/a.csv") == {}


def test_a_training_loss_beside_it() -> None:
    """Held-out losses are higher than those on the training data."""
    assert changed({"train loss": LOSS, "loss": ABOVE}) == {"loss": "val_loss"}
    assert changed({"train loss": ABOVE, "loss": LOSS}) == {}
    assert changed({"train loss": LOSS, "loss": LOSS}) == {}
    assert changed({"train loss": LOSS[:10], "loss": ABOVE}) == {}  # logged by step, the other by epoch


def test_a_training_accuracy_beside_it() -> None:
    steps = {"accuracy": [1, 3, 5, 7]}

    assert changed({"train_accuracy": LOSS, "accuracy": [0.1, 0.2, 0.3, 0.4]}, None, steps) == {
        "accuracy": "val_accuracy"
    }
    assert changed({"train_accuracy": LOSS, "accuracy": [LOSS[k] for k in steps["accuracy"]]}, None, steps) == {}


def test_logged_only_at_the_evaluations() -> None:
    """A held-out accuracy of the same name would say that it is of the training data."""
    at = [0, 5, 10, 15]
    steps = {"val_loss": at, "accuracy": at, "val_accuracy": at}
    logged = {"loss": LOSS, "val_loss": LOSS[:4], "accuracy": [0.2, 0.3, 0.4, 0.5]}

    assert changed(logged, None, steps) == {"accuracy": "val_accuracy"}
    assert changed(logged | {"val_accuracy": [0.1, 0.2, 0.3, 0.4]}, None, steps) == {}
    assert changed(logged | {"loss": LOSS[:4]}, None, steps | {"train_loss": at}) == {}
    assert changed(logged, None, steps | {"accuracy": [1, 5, 10, 15]}) == {}


def test_a_measure_that_the_neighbour_names() -> None:
    """A program prints `accuracy Train=96 Val=83`."""
    assert changed({"accuracy Train": LOSS, "Val": ABOVE}) == {"Val": "val_accuracy"}
    assert changed({"accuracy Train": LOSS, "train loss": LOSS, "Val": ABOVE}) == {}


def test_a_final_evaluation() -> None:
    assert changed({"loss": LOSS, "accuracy": [0.9]}) == {"accuracy": "val_accuracy"}
    assert changed({"loss": LOSS[:5], "accuracy": [0.9]}) == {}


def test_scores_of_the_training_data() -> None:
    """Keras puts `val_` before the names of held-out scores."""
    assert changed({"precision": LOSS, "val_precision": LOSS, "auc": LOSS, "val_auc": LOSS}) == {
        "precision": "other",
        "auc": "other",
    }
    assert changed({"mAP": LOSS, "val_precision": LOSS, "valid/bleu": LOSS, "train/bleu": LOSS}) == {}
    assert changed({"recall": LOSS, "test recall": [0.9]}) == {}  # a result at the end says nothing of the others


def test_a_held_out_value_named_only_after_its_data() -> None:
    """`loss 0.5 val 0.6`, `loss 0.5 acc 0.9 val 0.8`: it is measured as the metric that moves with it."""
    accuracy = [0.1 + 0.04 * k for k in range(20)]

    assert changed({"loss": LOSS, "val": ABOVE}) == {"val": "val_loss"}
    assert changed({"loss": LOSS, "acc": accuracy, "val": [x - 0.05 for x in accuracy]}) == {"val": "val_accuracy"}


def test_a_value_that_moves_otherwise_stays_unknown() -> None:
    """PyTorch Geometric's examples print `Loss: 0.69, Val: 0.68`, where the second is a score."""
    assert changed({"Loss": LOSS, "Val": [0.6 + 0.015 * k for k in range(20)]}) == {}
    assert changed({"loss": LOSS, "val": [1000 * x for x in LOSS]}) == {}
