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
        ("Loss: # | lr: #", ["Loss", "lr"]),  # the label has a number of its own
        ("loss -> train # | grad_norm: # | time: #", ["train loss", "grad_norm", "time"]),  # names that say something
        ("epoch # Loss train # val # / lr #", ["Loss train", "val", "lr"]),
        ("loss weight: box # cls #", []),  # a setting is no measure
        ("checkpoints: kept #, removed #", []),
    ],
)
def test_a_label_ends(line: str, wanted: list[str]) -> None:
    assert names(line) == wanted
