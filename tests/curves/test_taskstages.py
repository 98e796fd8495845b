"""Stages of one training that count their steps anew."""

import numpy as np
import polars as pl
import pytest

from loganalyst.curves.effective import curves
from loganalyst.curves.lasttraining import last_training
from loganalyst.curves.roles import assign
from loganalyst.model import Curve, Run, Source, table

EPOCHS = 4
FALL = [1.0, 0.5, 0.3, 0.2]


def logged(begins: dict[str, int], ends: dict[str, int] | None = None, stages: int = 3) -> list[Curve]:
    """The curves of a table with a loss that starts over in each stage; other metrics begin (and end) with a stage."""
    rows = [("loss", stage, epoch, FALL[epoch - 1]) for stage in range(stages) for epoch in range(1, EPOCHS + 1)]
    for metric, begin in begins.items():
        last = (ends or {}).get(metric, stages)
        rows += [(metric, stage, epoch, 0.5) for stage in range(begin, last) for epoch in range(1, EPOCHS + 1)]
    names, of, steps, values = zip(*rows, strict=True)
    lines = [2 + EPOCHS * stage + epoch for stage, epoch in zip(of, steps, strict=True)]
    columns = {"session": 0, "metric": list(names), "step": list(steps), "value": list(values), "source": "a"}
    points = table("points", columns).with_columns(pl.Series("line", lines))
    return curves(Run(points=points, sources=(Source("a", "csv", 1),)), assign(["loss", *begins]))


def test_tasks_that_begin_one_after_another_are_stages_of_one_training() -> None:
    """The steps count on from task to task. The loss starts over with each task, so that of the last one counts."""
    loss, first, *_, last = last_training(logged({"acc_T1": 0, "acc_T2": 1, "acc_T3": 2}))

    assert first.steps.tolist() == [*range(1, 13)]
    assert loss.steps.tolist() == last.steps.tolist() == [*range(9, 13)]


@pytest.mark.parametrize(("leaders", "points"), [((0, 1, 2), 12), ((0, 1, 1), EPOCHS)])
def test_tasks_logged_from_the_first_stage_on_lead_in_turn(leaders: tuple[int, ...], points: int) -> None:
    """Each is best at the end of its own stage; in trainings that repeat one another the same is."""
    found = logged(dict.fromkeys(["acc_T0", "acc_T1", "acc_T2"], 0))
    for number, curve in enumerate(found[1:]):
        curve.values[:] = np.repeat([0.9 if leader == number else 0.2 for leader in leaders], EPOCHS)

    assert last_training(found)[1].values.size == points


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        ({"val_acc": 0}, {}),  # one training after another
        ({"acc_T1": 0, "acc_T2": 0}, {}),  # all are logged in each training
        ({"fold1_acc": 0, "fold2_acc": 1, "fold3_acc": 2}, {"fold1_acc": 1, "fold2_acc": 2}),  # none goes on
        ({"val_acc": 0, "val_f1": 1}, {}),  # the names differ in more than a number
    ],
)
def test_other_trainings_in_one_file_are_no_stages(begins: dict[str, int], ends: dict[str, int]) -> None:
    """The last one counts."""
    assert last_training(logged(begins, ends))[0].values.tolist() == FALL
