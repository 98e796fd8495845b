"""The step of each printed record."""

import pytest

from loganalyst.sources.text.metrics.printedmetrics import parse
from loganalyst.sources.text.metrics.printedsteps import Steps
from tests.sources.text.metrics.metric_cases import frame


@pytest.mark.parametrize(
    ("lines", "steps"),
    [
        ([f"step {i} loss 0.5" for i in (10, 20, 30)], [10, 20, 30]),
        ([f"Epoch {e}: {i}/3 loss: 0.5" for e in (0, 1) for i in (1, 2, 3)], [1, 2, 3, 4, 5, 6]),
        ([f"Fit: [{e}/9][{i}/30] loss 0.5" for e in (0, 1) for i in (0, 10, 20)], [0, 10, 20, 30, 40, 50]),
        (["epochs=9 lr=0.1", *(f"[{i}/3] loss: 0.5" for i in (1, 2, 3))], [1, 2, 3]),
        ([f"epoch {e} loss: 0.5" for e in (1, 2, 3)], [1, 2, 3]),
        ([f"loss: 0.{i}" for i in range(5, 9)], [0, 1, 2, 3]),
        ([f"[{i}/3] loss: 0.5" for _ in range(2) for i in (1, 2, 3)], [1, 2, 3, 4, 5, 6]),
    ],
    ids=[
        "steps",
        "batches of epochs",
        "epochs and batches without words",
        "a plan is no epoch",
        "epochs",
        "an index",
        "passes without an epoch",
    ],
)
def test_one_axis_of_steps_for_a_session(lines: list[str], steps: list[int]) -> None:
    assert parse(frame("\n".join(lines)))["step"].to_list() == steps


def test_a_line_without_a_position_belongs_to_the_last_step() -> None:
    found = parse(frame("step 1 loss 0.5\nstep 2 loss 0.4\nstep 3 loss 0.3\nTest accuracy: 0.9\n"))

    assert found.filter(metric="Test accuracy")["step"].to_list() == [3]


def test_names_are_numbered_as_they_are_met() -> None:
    steps = Steps()

    assert [steps.code(name) for name in ("loss", "lr", "loss")] == [0, 1, 0]
