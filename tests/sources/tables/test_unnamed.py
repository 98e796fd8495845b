"""Names for numbers without a header."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.sources.tables import unnamed


@pytest.mark.parametrize(
    ("file", "metric"),
    [
        ("train_loss_50epochs.json", "train_loss"),
        ("train_loss_50_epochs.json", "train_loss"),
        ("loss-epoch-50.txt", "loss"),
        ("run-train-tag-loss_1.json", "loss_1"),
        ("loss_1.txt", "loss_1"),
        ("50epochs.txt", "50epochs"),
    ],
)
def test_the_file_names_the_metric(file, metric):
    assert unnamed.metric_of(Path(file)) == metric


def test_columns_are_named_by_their_number_and_place():
    names = [unnamed.names(width, Path("loss.txt"), counts=counts) for width in (1, 2, 3) for counts in (True, False)]

    assert names == [
        ["loss"], ["loss"],
        ["step", "loss"], ["column_1", "column_2"],
        ["step", "column_2", "column_3"], ["column_1", "column_2", "column_3"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        ([0, 1, 2], True),
        ([5, 5, 6], True),
        ([1, 1, 1], False),
        ([0, 2, 1], False),
        ([0, 0.5, 1], False),
        ([0, None], False),
    ],
)
def test_what_counts(column, counts):
    assert unnamed.counts_up(pl.Series(column, dtype=pl.Float64)) is counts


def test_the_hint_names_as_many_columns_as_there_are():
    columns = [f"column_{k}" for k in range(1, 7)]
    line, lists = (unnamed.hint(Path("a"), columns, 9, "1 2", json=json)[0]["why"].item() for json in (False, True))

    assert line == (
        "9 lines of 6 numbers without names, such as `1 2`: add a header line such as "
        "`loss,accuracy,val_loss,val_accuracy,metric4,metric5`"
    )
    assert lists.startswith('9 rows of 6 numbers without names, such as `1 2`: write `{"loss": […], "accuracy": […]')
    assert unnamed.hint(Path("a"), ["step", "loss"], 9, "1 2") == []
