"""Which data the numbers of a line are about."""

import pytest

from loganalyst.sources.text.lines.numberwords import SLOT
from loganalyst.sources.text.metrics import lineshapes
from loganalyst.sources.text.metrics.linedata import of_measure


def names(line: str, count: int = 5) -> list[str]:
    """The names of the metrics of a line, in which `#` is a number."""
    shape = lineshapes.read(line.replace("#", SLOT), count)
    return [slot.name for slot in shape.slots if slot.role == "metric"] if shape else []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Epoch #/#, Loss: # Validation - Accuracy: #, F1: #", ["Loss", "Validation Accuracy", "Validation F1"]),
        ("[Epoch #] Validation: accuracy=#", ["Validation accuracy"]),
        ("[Round #] Training Evaluation of node -> Loss: #", ["Loss"]),
        ("[Round #] Evaluation of node -> Loss: #, Accuracy: #", ["evaluation Loss", "evaluation Accuracy"]),
        ("验证结果: Recall@10=#, NDCG@10=#", ["验证 Recall@10", "验证 NDCG@10"]),
        ("test loss: #, acc: #", ["test loss", "test acc"]),
        ("epoch # Val F1: #, Val AUC: #, Loss: #", ["Val F1", "Val AUC", "Loss"]),  # each name is whole
        ("Accuracy on the validation set: #", ["validation Accuracy"]),
        ("Accuracy of the network on the test images: # %", ["test Accuracy"]),
        ("Accuracy of the network on the # test images: # %", ["test Accuracy of the network"]),
        ("epoch #/# D=# G=#", ["D", "G"]),
        ("Score: #", ["Score"]),
        ("Train: # | #%", ["Train"]),
        ("Learning rate: #", ["Learning rate"]),  # again and again: no setting
        ("learning_rate: #", []),  # a setting
    ],
)
def test_the_data_of_a_number(line: str, wanted: list[str]) -> None:
    assert names(line) == wanted


@pytest.mark.parametrize(
    "head",
    [
        "INFO ",
        "[INFO] ",
        "fit - INFO - ",
        "WARNING ",
        "INFO:my.package:",
        "12 DEBUG:root:",
        "| Info     | ",
        "fit: ERROR: ",
    ],
)
def test_held_out_data_are_named_behind_any_level(head: str) -> None:
    """A word for the data before the level opens no evaluation."""
    assert names(f"{head}Test: [#/#] Loss #") == ["Test Loss"]
    assert names(f"{head}val - Loss #") == ["val Loss"]
    assert names(f"my val {head}epoch # Loss #") == ["Loss"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Accuracy of the model on the test set", "test Accuracy"),
        ("mean loss over validation data is", "validation mean loss"),
        ("accuracy on the farm", "accuracy on the farm"),
    ],
)
def test_the_data_stand_first(name: str, wanted: str) -> None:
    assert of_measure(name) == wanted
