"""The measure of metrics that only the name of their file says."""

import pytest

from loganalyst.curves.filemeasures import changes
from tests.curves.curvesof import claims_of, curves_of

LOSS = [2.5 * 0.9**k for k in range(20)]
SHARE = [0.9 - 0.5 * 0.9**k for k in range(20)]


@pytest.mark.parametrize(
    ("source", "logged", "roles"),
    [
        ("accuracy_history.json", {"cnn/gyroscope": SHARE}, {"cnn/gyroscope": "train_accuracy"}),
        ("accuracy_history.json", {"cnn/gyroscope": [100 * x for x in LOSS]}, {}),  # no shares
        (
            "all_losses.json",
            {"Train_a": LOSS, "Test_a": LOSS},
            {"Train_a": "train_loss", "Test_a": "val_loss_component"},
        ),
        ("loss.csv", {"resnet": LOSS, "grad_norm": LOSS}, {}),  # a metric with a meaning of its own
        ("loss.csv", {"resnet": LOSS[:2]}, {}),
        ("val_accs.json", {"val_accs::list_1": SHARE}, {"val_accs::list_1": "val_accuracy"}),
        ("loss.txt", {"a": LOSS, "b": [2.5 * k for k in range(20)]}, {}),  # seconds, perhaps
        ("loss.txt", {"column_2": LOSS, "column_3": SHARE}, {}),  # one of them is an accuracy, perhaps
        ("loss.txt", {"column_2": LOSS, "column_3": LOSS}, dict.fromkeys(["column_2", "column_3"], "loss_component")),
        ("loss.txt", {"column_1": [2.5 * k for k in range(20)], "column_2": LOSS}, {"column_2": "train_loss"}),
        ("losses.csv", {"column_1": LOSS, "column_2": [519.0, 22.0] * 10}, {"column_1": "train_loss"}),  # milliseconds
        ("rewards.csv", {"column_1": LOSS, "column_2": [519.0, 22.0] * 10}, {}),  # the reward may be a whole number
        ("loss.txt", {f"column_{k}": LOSS for k in range(2, 20)}, {}),  # data
        ("loss.csv", {"resnet": LOSS, "vgg": [x / 1000 for x in LOSS]}, {}),
        ("run_7.csv", {"resnet": LOSS}, {}),
    ],
)
def test_the_file_says_the_measure(source, logged, roles):
    found = changes(curves_of(logged, source), claims_of(*logged))

    assert {metric: claim.role.name for metric, claim in found.items()} == roles
    assert all(claim.unsure for claim in found.values())
