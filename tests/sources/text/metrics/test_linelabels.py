"""A measure before several of its values completes their names."""

import pytest

from loganalyst.sources.text.lines.numberwords import SLOT
from loganalyst.sources.text.metrics import lineshapes


def names(line: str, count: int = 5) -> list[str]:
    """The names of the metrics of a line, in which `#` is a number."""
    shape = lineshapes.read(line.replace("#", SLOT), count)
    return [slot.name for slot in shape.slots if slot.role == "metric"] if shape else []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("MSE: train: # , validation: #", ["train MSE", "validation MSE"]),
        ("loss -> train: # | val: #", ["train loss", "val loss"]),
        ("Accuracy (train: #, valid: #)", ["train Accuracy", "valid Accuracy"]),
        ("AUC -- train: #, val: #", ["train AUC", "val AUC"]),
        ("→ Rewards | Chosen: # | Rejected: # |", ["Chosen Rewards", "Rejected Rewards"]),
        ("IoU: road #, car #, sky #", ["road IoU", "car IoU", "sky IoU"]),
        ("epoch # | mse: train # val # | r2: train # val #", ["train mse", "val mse", "train r2", "val r2"]),
    ],
)
def test_a_label_completes_the_names(line: str, wanted: list[str]) -> None:
    assert names(line) == wanted


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
        ("epoch #/# D=# G=#", ["D", "G"]),
        ("Score: #", ["Score"]),
        ("Train: # | #%", ["Train"]),
        ("learning_rate: #", []),  # a setting
    ],
)
def test_the_data_of_a_number(line: str, wanted: list[str]) -> None:
    assert names(line) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Loss: # | lr: #", ["Loss", "lr"]),  # the label has a number of its own
        ("loss -> train # | grad_norm: # | time: #", ["train loss", "grad_norm", "time"]),  # names that say something
        ("epoch # Loss train # val # / lr #", ["Loss train", "val", "lr"]),
        ("loss weight: box # cls #", []),  # a setting is no measure
        ("checkpoints: kept #, removed #", []),
    ],
)
def test_a_label_ends(line: str, wanted: list[str]) -> None:
    assert names(line) == wanted
