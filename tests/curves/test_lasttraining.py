"""The last of several trainings of one program."""

from collections.abc import Sequence

import polars as pl
import pytest

from loganalyst.curves.effective import curves
from loganalyst.curves.lasttraining import last_training
from loganalyst.curves.roles import assign
from tests.curves.loggedpoints import points, run_of

FALL = [0.47, 0.37, 0.31, 0.27, 0.22, 0.17, 0.13, 0.11]


def epochs(values: Sequence[float], epochs: Sequence[float], metric: str = "loss", session: int = 0) -> pl.DataFrame:
    steps = range(10 * session, 10 * session + len(values))
    return points(session, steps, values, metric).with_columns(pl.Series("epoch", epochs, dtype=pl.Float64))


def test_the_last_of_several_trainings_counts() -> None:
    """It starts where epochs restart and the loss returns to its start; other curves are cut there too."""
    counted = [*range(1, 9)] * 3
    frame = pl.concat([epochs(FALL * 3, counted), epochs([2 * v for v in FALL] * 3, counted, "val_loss")])
    loss, val = last_training(curves(run_of(frame), assign(["loss", "val_loss"])))

    assert (loss.steps.tolist(), loss.values.tolist()) == ([*range(16, 24)], FALL)
    assert (val.steps.tolist(), val.values.tolist()) == ([*range(16, 24)], [2 * v for v in FALL])


def test_a_second_training_is_recognised_by_its_held_out_loss() -> None:
    """Few losses per epoch; the first held-out ones carry the step of the previous training."""
    values = [0.012, 0.004, 0.002, 1.3, 0.9, 0.6, 0.5]
    val = points(0, [3, 8, 12, 12, 12, 13, 14], values, "val_loss").with_columns(
        pl.Series("epoch", [1, 2, 3, 1, 2, 3, 4], dtype=pl.Float64), pl.Series("line", [9, 15, 20, 32, 33, 35, 36])
    )
    rate = points(0, [11, 12, 13], [2e-6, 1e-6, 4e-5], "lr").with_columns(pl.Series("line", [18, 19, 34]))
    val_loss, lr = last_training(curves(run_of(pl.concat([val, rate])), assign(["val_loss", "lr"])))

    assert (val_loss.steps.tolist(), val_loss.values.tolist()) == ([12, 12, 13, 14], [1.3, 0.9, 0.6, 0.5])
    assert lr.values.tolist() == [4e-5]


def test_a_training_that_begins_below_the_end_of_the_one_before() -> None:
    """The first two show that the table holds several trainings of eight epochs; the third is a better model."""
    better = [x / 10 for x in FALL]
    (loss,) = last_training(curves(run_of(epochs([*FALL, *FALL, *better], [*range(1, 9)] * 3)), assign(["loss"])))

    assert loss.values.tolist() == better

    shorter = [*range(1, 9), *range(1, 9), *range(1, 8)]  # perhaps cut off, perhaps a second phase
    (loss,) = last_training(curves(run_of(epochs([*FALL, *FALL, *better[:7]], shorter)), assign(["loss"])))

    assert loss.values.tolist() == [*FALL, *better[:7]]


@pytest.mark.parametrize(
    ("values", "counted"),
    [
        (FALL * 2, range(1, 17)),  # epochs go on: whatever happened there is to be judged
        (FALL * 2, [1] * 16),  # one epoch at a time
        ([*FALL, *(0.11 - 0.01 * i for i in range(8))], [*range(1, 9)] * 2),  # goes on where it was
        ([*FALL, *FALL], [*range(9, 17), *range(12, 20)]),  # not from the first
        ([*FALL, 0.47, 0.37], [*range(1, 9), 1, 2]),  # too few for a level
        (FALL[::-1] * 2, [*range(1, 9)] * 2),  # nothing was learned that could be lost
    ],
)
def test_curves_of_a_single_training_are_kept(values: list[float], counted: Sequence[float]) -> None:
    (loss,) = last_training(curves(run_of(epochs(values, list(counted))), assign(["loss"])))

    assert loss.values.tolist() == values


def folds(metric: str, begins: float) -> pl.DataFrame:
    """Three folds of boosting: steps count from 100 again, without epochs, and the score starts over."""
    values = [begins + 0.01 * k for k in range(8)]
    steps = [100 * (k + 1) for k in range(8)]
    return points(0, steps * 3, values * 3, metric).with_columns(pl.Series("line", range(1, 25)))


def test_the_last_fold_counts_where_only_scores_are_printed() -> None:
    both = pl.concat([folds("train's auc", 0.9), folds("valid's auc", 0.85)])
    found = curves(run_of(both), assign(["train's auc", "valid's auc"]))
    train, valid = last_training(found)

    assert train.steps.tolist() == valid.steps.tolist() == [100 * (k + 1) for k in range(8)]
    assert valid.lines.tolist() == [*range(17, 25)]


def test_a_score_of_held_out_data_alone_starts_nothing() -> None:
    """It may fall at a restart of the schedule, or for another set."""
    (valid,) = last_training(curves(run_of(folds("valid's auc", 0.85)), assign(["train's auc", "valid's auc"])))

    assert valid.values.size == 24
