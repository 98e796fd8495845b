"""The measure that a file's name says."""

from pathlib import PurePath

import pytest

from loganalyst import filemeasure


@pytest.mark.parametrize(
    ("file", "measure"),
    [
        ("Accuracy.csv", "accuracy"),
        ("all_losses.json", "losses"),
        ("pretraining.loss.tsv", "loss"),
        ("box_loss_per_epoch.csv", "box_loss"),
        ("valAccHistory.json", "acc"),
        ("resnet_50_lr_0_1_seed_3_loss.txt", "loss"),
        ("run_7.csv", ""),
        ("lossy.csv", ""),
    ],
)
def test_the_measure_of_a_file(file: str, measure: str) -> None:
    assert filemeasure.measure(PurePath(file)) == measure


@pytest.mark.parametrize(
    ("file", "columns", "names"),
    [
        ("AUC.csv", ["train", "valid"], ["train/auc", "valid/auc"]),
        ("f1.csv", ["epoch", "Train set", "Test set", "lr"], ["epoch", "Train set/f1", "Test set/f1", "lr"]),
        ("loss.csv", ["step", "trn", "heldout"], ["step", "trn", "heldout/loss"]),
        ("loss.csv", ["train_acc", "val_acc"], ["train_acc", "val_acc"]),
        ("losses.csv", ["val eval", "train eval"], ["val eval", "train eval"]),  # of a head named eval
        ("metrics.csv", ["train", "valid"], ["train", "valid"]),
        ("loss.csv", ["train", "train/loss"], ["train", "train/loss"]),  # one name for two columns
    ],
)
def test_columns_that_say_only_the_data(file: str, columns: list[str], names: list[str]) -> None:
    assert filemeasure.named(columns, PurePath(file)) == names
