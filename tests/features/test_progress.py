"""Planned steps that a job log prints."""

import pytest

from loganalyst.features.progress import differs, printed_plan
from loganalyst.model import Run, table


def plan(last: int | None, captures: str) -> float | None:
    lines = table("lines", {"session": 0, "file": "a", "line": [9], "pattern": "last-step", "captures": captures})
    return printed_plan(Run(lines=lines, sessions=table("sessions", {"session": [0]})), last)


def said(**numbers: int) -> str:
    pairs = (f'"{k}":"{numbers[k]}"' if k in numbers else f'"{k}":null' for k in ("step", "steps", "epoch", "epochs"))
    return "{" + ",".join(pairs) + "}"


@pytest.mark.parametrize(
    ("last", "numbers", "planned"),
    [
        (5, {"step": 5, "steps": 400}, 400),
        (500, {"step": 507, "steps": 1000}, 1000),
        (100, {"step": 900, "steps": 1000}, None),  # a bar of something else
        (900, {"step": 5, "steps": 400}, None),
        (5, {"step": 5}, None),
        (3, {"epoch": 3, "epochs": 10}, 10),
        (2, {"epoch": 3, "epochs": 10}, 10),
        (3, {"epoch": 5, "epochs": 8}, 8),  # counted from 0, and the fifth has begun
        (0, {"epoch": 2, "epochs": 8}, None),  # a single value at step 0
        (900, {"epoch": 3, "epochs": 10}, None),
        (850, {"step": 50, "steps": 400, "epoch": 3, "epochs": 10}, 4000),
        (150, {"step": 150, "steps": 400, "epoch": 1, "epochs": 10}, 4000),
        (50, {"step": 50, "steps": 400, "epoch": 1, "epochs": 10}, None),  # of the epoch, or of all
        (4800, {"step": 4800, "steps": 5000, "epoch": 10, "epochs": 10}, 5000),
        (150, {"step": 391, "steps": 391, "epoch": 150, "epochs": 150}, 150),  # the curves count epochs
        (299, {"step": 391, "steps": 391, "epoch": 300, "epochs": 300}, 300),
        (17, {"step": 22, "steps": 79, "epoch": 10, "epochs": 50}, None),  # the curves count neither
        (40, {"step": 400, "steps": 400, "epoch": 7, "epochs": 8}, None),
        (None, {"step": 5, "steps": 400}, None),
    ],
)
def test_planned_steps(last: int | None, numbers: dict[str, int], planned: float | None) -> None:
    """A total of the run or of an epoch, by the position of the counter."""
    assert plan(last, said(**numbers)) == planned


@pytest.mark.parametrize(
    ("last", "steps", "planned"),
    [
        (1918, ["2400"], 2400),
        (300, ["1,200"], 1200),
        (300, ["1200", "1200"], 1200),
        (300, ["1200", "800"], None),  # which of both is the plan?
        (2000, ["1200"], None),  # steps of something else
    ],
)
def test_steps_announced_on_a_line_of_their_own(last: int, steps: list[str], planned: float | None) -> None:
    """`max_steps: 2400` is the plan if the curves do not exceed it."""
    lines = table("lines", {
        "session": 0, "file": "a", "line": list(range(len(steps))), "pattern": "planned-steps",
        "captures": [f'{{"steps":"{s}"}}' for s in steps],
    })  # fmt: skip
    assert printed_plan(Run(lines=lines, sessions=table("sessions", {"session": [0]})), last) == planned


def test_a_bar_of_something_else_hides_no_announced_plan() -> None:
    """Such as `Loading weights: 100%|##| 12/12` below `max_steps: 40`."""
    lines = table("lines", {
        "session": 0, "file": "a", "line": [1, 2], "pattern": ["planned-steps", "last-step"],
        "captures": ['{"steps":"40"}', said(step=12, steps=12)],
    })  # fmt: skip
    assert printed_plan(Run(lines=lines, sessions=table("sessions", {"session": [0]})), 15) == 40


@pytest.mark.parametrize(
    ("captures", "last", "planned"),
    [
        (['{"epochs":"40"}'], 19, 40),  # counted from 0
        (['{"epochs_in_words":"40"}'], 20, 40),
        (['{"epochs":"40"}', '{"epochs":"60"}'], 20, None),  # which of both is the plan?
        (['{"epochs":"10"}'], 20, None),  # epochs of something else
    ],
)
def test_epochs_announced_on_a_line_of_their_own(captures: list[str], last: int, planned: float | None) -> None:
    """`Scheduled epochs: 40` above one value an epoch."""
    count = len(captures)
    lines = table("lines", {
        "session": 0, "file": "a", "line": list(range(count)), "pattern": "planned-epochs", "captures": captures,
    })  # fmt: skip
    points = table("points", {"metric": "loss", "session": 0, "step": [last], "epoch": [20.0], "value": 1.0})
    assert printed_plan(Run(lines=lines, points=points, sessions=table("sessions", {"session": [0]})), last) == planned


def test_a_silent_log_has_no_plan() -> None:
    """Nor has a log without sessions."""
    assert printed_plan(Run(), 5) is None


@pytest.mark.parametrize(("last", "printed", "other"), [(19, 3252, True), (19, 20, False), (19, 19, False)])
def test_a_printed_step_that_the_curves_do_not_have(last: int, printed: int, other: bool) -> None:
    """Steps may count from 0 or from 1."""
    captures = said(step=printed, steps=3252)
    lines = table("lines", {"session": 0, "file": "a", "line": [9], "pattern": "last-step", "captures": captures})

    assert differs(Run(lines=lines, sessions=table("sessions", {"session": [0]})), last) is other


def test_a_log_without_a_printed_step_differs_in_nothing() -> None:
    assert differs(Run(), 19) is False


@pytest.mark.parametrize(
    ("begins", "epoch", "planned"),
    [
        ([0, 40, 80], 3, 400),
        ([39, 79, 119], 3, 400),  # one value at the end of each epoch
        ([0, 40, 95], 3, None),  # epochs of different length
        ([400, 440, 480], 3, None),  # steps of an earlier start
        ([0, 40], 3, None),  # the counter printed another epoch
    ],
)
def test_printed_epochs_above_lines_of_batches(begins: list[int], epoch: int, planned: float | None) -> None:
    """`Epoch [3/10]` above lines of a step each: ten times the length of an epoch."""
    at = [(n, begin + k) for n, begin in enumerate(begins, 1) for k in (0, 10, 20, 30)]
    points = table("points", {
        "metric": "loss", "session": 0, "step": [step for _, step in at], "epoch": [float(n) for n, _ in at],
        "value": 1.0,
    })  # fmt: skip
    captures = said(epoch=epoch, epochs=10)
    lines = table("lines", {"session": 0, "file": "a", "line": [9], "pattern": "last-step", "captures": captures})
    run = Run(lines=lines, points=points, sessions=table("sessions", {"session": [0]}))
    assert printed_plan(run, at[-1][1]) == planned
