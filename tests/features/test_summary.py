"""A few facts of the run: pace, steps and checkpoints."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from loganalyst.curves import roles
from loganalyst.curves.effective import curves
from loganalyst.features.summary import summarise
from loganalyst.model import Run, TrainingKind, table

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def logged(metric, values, *, every=1, seconds=None, session=0):
    n = len(values)
    times = [BEGIN + timedelta(seconds=seconds * i) for i in range(n)] if seconds else None
    return table(
        "points",
        {
            "session": session,
            "metric": metric,
            "step": [every * i for i in range(n)],
            "value": list(values),
            "time": times,
        },
    )


def summary(*points, checkpoints=()):
    saved = table(
        "checkpoints",
        {
            "path": [name for name, _, _ in checkpoints],
            "step": [at for _, at, _ in checkpoints],
            "readable": [fine for _, _, fine in checkpoints],
        },
    )
    run = Run(points=pl.concat(points), checkpoints=saved)
    return summarise(run, curves(run, roles.assign(run.points["metric"].unique(maintain_order=True))))


def test_the_pace_is_that_of_the_longest_curve():
    """Ten steps every two seconds are five per second; without times the pace is not known."""
    assert summary(logged("loss", [1.0] * 50, every=10, seconds=2))["steps_per_second"] == pytest.approx(5)
    assert summary(logged("loss", [1.0] * 50))["steps_per_second"] is None
    assert summary(logged("loss", [1.0], seconds=2))["steps_per_second"] is None
    assert summary(logged("loss", [1.0] * 50, every=0, seconds=2))["steps_per_second"] is None


def test_the_checkpoint_nearest_to_the_best_value():
    """Of the held-out loss, not of the training loss; an empty checkpoint does not count."""
    saved = [("a.pt", 10, True), ("b.pt", 20, True), ("c.pt", 21, False), ("model-best.pt", None, True)]
    told = summary(
        logged("loss", [1 / (i + 1) for i in range(40)]),
        logged("val_loss", [abs(i - 22) + 1.0 for i in range(40)]),
        checkpoints=saved,
    )

    assert told["checkpoints"] == 4
    assert told["checkpoint"] == {
        "last_step": 20,
        "best_metric": "val_loss",
        "best_step": 22,
        "nearest_step": 20,
        "nearest": "b.pt",
        "named_best": "model-best.pt",
        "unreadable": ["c.pt"],
    }


def test_a_word_that_contains_best_is_not_the_best():
    """`bestiary` is a name."""
    told = summary(logged("loss", [1.0] * 9), checkpoints=[("bestiary.pt", 1, True)])

    assert told["checkpoint"]["named_best"] is None


def test_without_a_checkpoint_there_is_none_to_name():
    """The value is None."""
    assert summary(logged("loss", [1.0] * 9))["checkpoint"] is None


def test_the_last_step_is_that_of_judged_curves():
    """Otherwise of unknown metrics; machine counters do not count."""
    unknown = logged("theta0", [1.0] * 30)

    assert summary(logged("loss", [1.0] * 10), unknown)["last_step"] == 9
    assert summary(unknown)["last_step"] == 29
    assert summary(logged("system/gpu.0.temp", [50.0] * 30))["last_step"] is None


def test_a_score_that_weighs_both_sides_comes_before_precision_and_recall():
    """Each of them can be bought with the other, so their best is not the best of the run."""
    found = summary(
        logged("metrics/precision(B)", [0.9, 0.5]),
        logged("metrics/recall(B)", [0.2, 0.6]),
        logged("metrics/mAP50-95(B)", [0.3, 0.5]),
        checkpoints=[("a.pt", 0, True), ("b.pt", 1, True)],
    )

    assert [m["metric"] for m in found["metrics"]] == [
        "metrics/mAP50-95(B)",
        "metrics/precision(B)",
        "metrics/recall(B)",
    ]
    assert found["checkpoint"]["nearest"] == "b.pt"


def test_trees_have_no_schedule_and_no_gradients_of_weights():
    """Nobody can log them."""
    points = logged("valid_loss", [1 / (i + 1) for i in range(40)])
    run = Run(points=points)
    found = curves(run, roles.assign(points["metric"].unique(maintain_order=True)))
    boosting = TrainingKind("boosting", 0.9, ())

    assert {"learning_rate", "grad_norm"} <= set(summarise(run, found)["not_logged"])
    assert set(summarise(run, found, boosting)["not_logged"]) == {"train_loss"}
