"""Files of two trainings in one run."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from loganalyst import features, signals
from loganalyst.curves import roles
from loganalyst.curves.effective import curves
from loganalyst.features import mixture
from loganalyst.features.context import Context
from loganalyst.model import Run, Source, table

FALL = np.exp(-np.arange(50) / 20)
YOLO = ("train/box_loss", "train/obj_loss", "train/cls_loss", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "x/lr0")
SB3 = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "time/iterations", "train/approx_kl", "train/clip_fraction")
DAY = datetime(2026, 3, 1, tzinfo=UTC)


def log(file, values, *metrics, steps=None, started=None):
    """The points of one file: every metric has the same values."""
    at = list(range(len(values))) if steps is None else steps
    time = None if started is None else [started + timedelta(minutes=i) for i in range(len(values))]
    return pl.concat(
        table("points", {"session": 0, "metric": m, "step": at, "value": list(values), "source": file, "time": time})
        for m in metrics
    )


def compute(*logs: pl.DataFrame, formats=("csv", "csv")):
    points = pl.concat(logs)
    files = [part["source"][0] for part in logs]
    sources = tuple(Source(file, form, 1, part.height) for file, form, part in zip(files, formats, logs, strict=False))
    run = Run(points=points, sources=sources)
    found = curves(run, roles.assign(points["metric"].unique(maintain_order=True)))
    return mixture.compute(Context(run, found, signals.find(found)[0]))


@pytest.mark.parametrize(
    ("logs", "formats", "why"),
    [
        (
            (log("a.csv", FALL, *YOLO), log("b.csv", FALL, *SB3)),
            ("csv", "csv"),
            "YOLOv3, YOLOv5 and YOLOv7 wrote one, Stable-Baselines3 the other",
        ),
        (
            (log("a.csv", FALL, "loss"), log("b.csv", FALL + 2, "loss")),
            ("csv", "csv"),
            "both log loss, with other values",
        ),
        (
            (log("a.csv", FALL, "val_loss"), log("b.log", FALL + 1, "val_loss")),
            ("csv", "text"),
            "both log val_loss, with other values",
        ),
        (
            (
                log("a.csv", FALL, "loss", started=DAY),
                log("b.log", FALL, "train_loss", started=DAY + timedelta(days=2)),
            ),
            ("csv", "text"),
            "one was written long after the other, over the same steps and with other names",
        ),
    ],
)
def test_files_that_do_not_fit(logs, formats, why):
    """Two trainers; one format with other values at the same steps; other held-out values; long after each other."""
    found = compute(*logs, formats=formats)

    assert found == {"mixed_file": logs[0]["source"][0], "mixed_with": logs[1]["source"][0], "mixed_why": why}


@pytest.mark.parametrize(
    ("logs", "formats"),
    [
        ((log("a.csv", FALL, "val_loss"), log("b.log", FALL.round(3), "val_loss")), ("csv", "text")),
        ((log("a.csv", FALL, "loss"), log("b.log", FALL * 1.2, "loss")), ("csv", "text")),
        ((log("a.csv", FALL, "loss"), log("b.csv", FALL, "accuracy")), ("csv", "csv")),
        ((log("a.csv", FALL, "loss"), log("b.csv", FALL + 2, "loss", steps=list(range(50, 100)))), ("csv", "csv")),
        (
            (
                log("a.csv", FALL, "loss", started=DAY),
                log("b.log", FALL, "train_loss", started=DAY + timedelta(hours=14)),
            ),
            ("csv", "text"),
        ),
        ((log("a.csv", FALL, "loss"), log("b.csv", FALL[:4] * 3, "loss")), ("csv", "csv")),
        ((log("a.csv", FALL, *YOLO), log("b.log", FALL, *YOLO)), ("csv", "text")),
        ((log("a.csv", FALL, "loss"),), ("csv",)),
    ],
)
def test_files_of_one_training(logs, formats):
    """Rounded values; means over epochs beside single steps; other metrics; a continuation; another time zone; too few
    values; the files of one trainer; a single file.
    """
    assert compute(*logs, formats=formats) == {}


def test_the_features_are_declared():
    assert {f.name for f in mixture.FEATURES} <= features.declared().keys()
