"""How a run ended: as stated, by its plan, by its patience, or by a file that is cut off."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from loganalyst.curves.runcurves import run_curves
from loganalyst.curves.trainers import trainers
from loganalyst.features import ending
from loganalyst.features.context import Context
from loganalyst.model import Run, RunStatus, Source, table

Settings = Mapping[str, float]


def run_of(settings: Settings, last: int, *, status: RunStatus = "unknown", epochs: float | None = None) -> Run:
    """A run with a loss at the steps up to `last`; the epochs rise evenly to `epochs`."""
    steps = list(range(1, last + 1))
    passes = [None] * last if epochs is None else [epochs * step / last for step in steps]
    points = table(
        "points",
        {
            "metric": ["loss"] * last,
            "step": steps,
            "epoch": passes,
            "value": [1 / s for s in steps],
            "source": ["log.csv"] * last,
        },
    )
    config = table(
        "config",
        {
            "key": [*settings],
            "value": [str(v) for v in settings.values()],
            "number": [float(v) for v in settings.values()],
        },
    )
    return Run(points=points, config=config, sources=(Source("log.csv", "csv", 1),), status=status)


def computed(run: Run) -> dict[str, object]:
    return dict(ending.compute(Context(run, run_curves(run, {}, {}, {})[0], table("findings"))))


@pytest.mark.parametrize(
    ("settings", "last", "epochs", "end"),
    [
        ({"max_steps": 1000}, 470, None, "stopped_early_unexplained"),
        ({"max_steps": 1000}, 999, None, "finished"),
        ({"max_steps": 100}, 95, None, None),  # between the limits: it may end with the last logged interval
        ({"num_epochs": 100}, 470, 47.0, "stopped_early_unexplained"),
        ({"num_epochs": 100}, 470, 100.0, "finished"),
        ({}, 470, 47.0, None),
        ({"num_epochs": 100}, 470, None, None),
    ],
)
def test_an_end_that_nothing_states_is_known_by_the_plan(
    settings: Settings, last: int, epochs: float | None, end: str | None
) -> None:
    """Steps count first, then epochs. Without a plan nothing is known."""
    assert computed(run_of(settings, last, epochs=epochs))["run_end"] == end


@pytest.mark.parametrize(("planned", "end"), [(48, "finished"), (70, "stopped_early_unexplained")])
def test_the_rest_of_a_logging_interval_need_not_be_logged(planned: int, end: str) -> None:
    """With a value at each tenth step, a plan of 48 ends with the value of step 40."""
    run = run_of({"max_steps": planned}, 40)
    sparse = replace(run, points=run.points.filter(pl.col("step") % 10 == 0))

    assert computed(sparse)["run_end"] == end


@pytest.mark.parametrize(
    ("status", "end"),
    [("finished", "finished"), ("stopped_early", "early_stopped"), ("killed", "killed"), ("running", "running")],
)
def test_a_stated_end_counts_whatever_the_plan(status: RunStatus, end: str) -> None:
    """A tracker that says "finished" at 47 % of the plan is believed; the report shows both numbers."""
    assert computed(run_of({"max_steps": 1000}, 470, status=status))["run_end"] == end


@pytest.mark.parametrize(
    ("best", "end"),
    [
        (14, "early_stopped"),
        (13, "early_stopped"),
        (10, "stopped_early_unexplained"),
        (19, "stopped_early_unexplained"),
    ],
)
def test_a_run_that_waited_its_patience_stopped_on_purpose(best: int, end: str) -> None:
    """Twenty evaluations with a patience of 5: the best one lies 5 (or 6, as some count) before the last."""
    run = run_of({"max_steps": 1000, "patience": 5}, 20)
    held_out = run.points.with_columns(metric=pl.lit("val_loss"), value=pl.Series(np.abs(np.arange(20) - best) + 1.0))
    assert computed(replace(run, points=pl.concat([run.points, held_out])))["run_end"] == end


@pytest.mark.parametrize(
    ("status", "format_", "why", "file"),
    [
        ("unknown", "csv", "the file ends inside a record", "log.csv"),
        ("unknown", "text", "the file ends inside a record", None),
        ("unknown", "csv", "row is cut off", None),
        ("finished", "csv", "the file ends inside a record", None),
    ],
)
def test_a_file_of_metrics_that_ends_inside_a_record(
    status: RunStatus, format_: str, why: str, file: str | None
) -> None:
    """It shows a stop before the end, where nothing else states the end."""
    gaps = table("gaps", {"file": ["log.csv"], "offset": [100], "bytes": [7], "why": [why]})
    run = replace(run_of({}, 30, status=status), gaps=gaps, sources=(Source("log.csv", format_, 1),))
    found = computed(run)

    assert found["run_file_cut"] == file
    assert found["run_end"] == ("stopped_early_unexplained" if file else None if status == "unknown" else status)


@pytest.mark.parametrize(
    ("text", "file"), [("{'loss': 1.2", "train.log"), ("{'loss': 1.2}", None), ("step 50 loss 1.2", None)]
)
def test_a_log_of_records_that_ends_inside_one(text: str, file: str | None) -> None:
    """The last line has no line break. It is cut off if it opens a record and does not close it."""
    lines = table("lines", {"file": ["train.log"], "line": [60], "text": [text], "pattern": ["cut-line"]})
    found = computed(replace(run_of({}, 30), lines=lines))

    assert found["run_file_cut"] == file
    assert found["run_end"] == ("stopped_early_unexplained" if file else None)


@pytest.mark.parametrize(
    ("format_", "status", "missing"),
    [("text", "unknown", True), ("text", "finished", False), ("csv", "unknown", False)],
)
def test_a_log_without_the_line_that_ends_each_training(format_: str, status: RunStatus, missing: bool) -> None:
    """The trainer prints one, and its values came from a text; tables have no such line."""
    run = replace(run_of({}, 20, status=status), sources=(Source("log.csv", format_, 1, 20),))
    trainer = next(known for known in trainers() if known.id == "trl-sft")

    assert trainer.prints_end
    assert ending.compute(Context(run, [], table("findings"), trainer=trainer))["run_end_line_missing"] is missing
    assert ending.compute(Context(run, [], table("findings")))["run_end_line_missing"] is False


def test_a_plan_that_was_reached_needs_no_end_line() -> None:
    """All 20 planned steps were logged."""
    run = replace(run_of({"max_steps": 20}, 20), sources=(Source("log.csv", "text", 1, 20),))
    trainer = next(known for known in trainers() if known.id == "trl-sft")
    found = ending.compute(Context(run, run_curves(run, {}, {}, {})[0], table("findings"), trainer=trainer))

    assert (found["run_end"], found["run_end_line_missing"]) == ("finished", False)


@pytest.mark.parametrize(
    ("trainer_id", "last", "end", "share"),
    [
        ("ultralytics", 40, "finished", 1.0),  # its steps are epochs
        ("ultralytics", 30, "stopped_early_unexplained", 0.75),
        ("trl-sft", 40, None, None),  # its steps are updates
    ],
)
def test_steps_that_are_epochs_show_how_much_of_the_plan_was_done(
    trainer_id: str, last: int, end: str | None, share: float | None
) -> None:
    run = run_of({"epochs": 40}, last)
    trainer = next(known for known in trainers() if known.id == trainer_id)

    found = ending.compute(Context(run, run_curves(run, {}, {}, {})[0], table("findings"), trainer=trainer))

    assert (found["run_end"], found["run_epochs_done_share"]) == (end, share)
