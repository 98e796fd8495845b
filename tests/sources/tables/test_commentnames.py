"""The names of columns in comments above rows of numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.tables import commentnames


@pytest.mark.parametrize(
    ("comment", "names"),
    [
        ("# epoch train_loss val_loss", ["epoch", "train_loss", "val_loss"]),
        ("# epoch\ttraining loss\tval loss", ["epoch", "training loss", "val loss"]),
        ("% Epoch  Train Loss  Val Loss", ["Epoch", "Train Loss", "Val Loss"]),
        ("# iteration | loss (train) | loss (val)", ["iteration", "loss (train)", "loss (val)"]),
        ("# step, errs(low, high)", ["step", "errs/low", "errs/high"]),
        ('#"epoch","loss","acc"', ["epoch", "loss", "acc"]),
        ("# epoch loss", []),  # one name too few
        ("# loss loss acc", []),
        ("# lr=0.1 seed=3 batch=8", []),  # settings
        ("# 64 0.01 20", []),
    ],
)
def test_the_separator_is_the_one_that_names_each_column(comment: str, names: list[str]) -> None:
    assert commentnames.names([comment], 3) == names


def test_the_last_comment_that_fits_counts() -> None:
    assert commentnames.names(["# epoch, loss", "# acc, loss", "# seed 1 of 5"], 2) == ["acc", "loss"]
    assert commentnames.names([], 2) == []


@given(st.text(max_size=200), st.integers(1, 9))
def test_any_comment_gives_all_names_or_none(comment: str, width: int) -> None:
    assert len(commentnames.names([comment], width)) in (0, width)


def test_tuples_are_names_of_their_own():
    """A word before brackets is a name, where the columns are as many."""
    assert commentnames.names(["epoch (dev_mrr, dev_hr) (test_mrr, test_hr)"], 5) == [
        "epoch", "dev_mrr", "dev_hr", "test_mrr", "test_hr",
    ]  # fmt: skip
