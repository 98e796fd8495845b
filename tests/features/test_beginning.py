"""Logs that begin in the middle of a run: earlier gains and falls are not known."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import loganalyst as la
from loganalyst.features.beginning import begins_late, is_continued, unless_late
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
OF_THE_BEGINNING = (
    "train_loss_drop_relative",
    "train_loss_start_ratio",
    "train_loss_drop_z",
    "train_loss_half_drop_relative",
)
GAINS = ("reward_gain_z", "reward_best_gain_z", "reward_late_gain_z")
VALUES = (1.0 + np.exp(-np.arange(100) / 30)).tolist()


def points(metric: str, steps: Sequence[int], epochs: Sequence[float] | None = None) -> pl.DataFrame:
    """Rows of a metric at these steps and epochs."""
    told = {"epoch": list(epochs)} if epochs is not None else {}
    return table("points", {
        "session": 0, "metric": metric, "step": list(steps), "value": VALUES[: len(steps)], "source": "m.csv", **told,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("first", "interval", "late"),
    [(0, 1, False), (10, 10, False), (100, 1, False), (102, 1, True), (5000, 10, True), (1_000_000, 500, True)],
)
def test_the_first_step_shows_a_late_start(features_of: FeaturesOf, first: int, interval: int, late: bool) -> None:
    """Late is a first step after half of the last step, allowing one logging interval."""
    values = features_of({}, points=points("loss", range(first, first + 100 * interval, interval))).values

    assert values["train_loss_begins_late"] is late
    assert {values[name] is None for name in OF_THE_BEGINNING} == {late}
    assert values["train_loss_tail_slope"] is not None


def test_epochs_show_a_late_start_where_steps_restart(features_of: FeaturesOf) -> None:
    """Steps count from 0 while epochs continue from 60 to 70."""
    late = features_of({}, points=points("loss", range(100), np.linspace(60, 70, 100).tolist())).values
    whole = features_of({}, points=points("loss", range(100), np.linspace(1, 10, 100).tolist())).values

    assert (late["train_loss_begins_late"], whole["train_loss_begins_late"]) == (True, False)


def test_first_epochs_outweigh_continuing_steps(features_of: FeaturesOf) -> None:
    """The second training of a program that counts its steps through; within one epoch, steps decide."""
    restarted = features_of({}, points=points("loss", range(500, 600), np.linspace(1, 10, 100).tolist())).values
    within = features_of({}, points=points("loss", range(500, 600), np.linspace(0.8, 0.99, 100).tolist())).values

    assert (restarted["train_loss_begins_late"], within["train_loss_begins_late"]) == (False, True)


def test_a_log_that_starts_within_an_epoch_starts_late(features_of: FeaturesOf) -> None:
    """The second half of two epochs; a first row after one interval is the start."""
    middle = features_of({}, points=points("loss", range(50), np.linspace(1.26, 2, 50).tolist())).values
    whole = features_of({}, points=points("loss", range(50), np.linspace(0.04, 2, 50).tolist())).values
    from_one = features_of({}, points=points("loss", range(50), np.linspace(1.02, 2, 50).tolist())).values

    assert [row["train_loss_begins_late"] for row in (middle, whole, from_one)] == [True, False, False]


def test_two_points_have_no_logging_interval(features_of: FeaturesOf) -> None:
    """Epochs 900 and 1000: the run may log every hundredth epoch."""
    assert features_of({}, points=points("loss", [900, 1000])).values["train_loss_begins_late"] is False


def test_the_entropy_before_the_log_is_not_known(features_of: FeaturesOf) -> None:
    """A policy that had settled before the log began looks unchanged in it."""
    late = features_of({}, points=points("policy_entropy", range(5000, 5100))).values
    whole = features_of({}, points=points("policy_entropy", range(100))).values
    names = ("entropy_first", "entropy_last_share", "entropy_low_share")

    assert [late[name] for name in names] == [None] * 3
    assert None not in [whole[name] for name in names]
    assert late["entropy_last"] == whole["entropy_last"]


def test_gains_before_the_log_are_not_known(features_of: FeaturesOf) -> None:
    """The same curve from the first step and from step 5,000."""
    whole = features_of({}, points=points("reward", range(100))).values
    part = features_of({}, points=points("reward", range(5000, 5100))).values

    assert [whole[name] is None for name in ("reward_begins_late", *GAINS)] == [False] * 4
    assert (part["reward_begins_late"], *(part[name] for name in GAINS)) == (True, None, None, None)


def test_features_of_a_late_start_are_unknown(context_of: Callable[..., Context]) -> None:
    """Steps from 500 to 590; the same steps with the first epoch are a beginning."""
    steps = list(range(500, 600, 10))
    epochs = [0.3 * k for k in range(1, 11)]
    (late,) = context_of({}, points=points("loss", steps)).with_role("train_loss")
    (first_epoch,) = context_of({}, points=points("loss", steps, epochs)).with_role("train_loss")

    assert begins_late(late)
    assert not begins_late(first_epoch)
    assert unless_late(late, {"a": 1.0}) == {"a": None}
    assert unless_late(first_epoch, {"a": 1.0}) == {"a": 1.0}


@pytest.mark.filterwarnings("error")
def test_a_curve_without_a_file_continues_what_was_said_above(context_of: Callable[..., Context]) -> None:
    """Points of no file: only the number of their line says what stood before them."""
    said = table("lines", {"session": 0, "file": "train.log", "line": [3], "pattern": "continued-from-checkpoint"})
    rows = points("loss", range(100)).with_columns(source=pl.lit(None, pl.String))
    contexts = [context_of({}, points=rows.with_columns(line=pl.int_range(100) + k), lines=said) for k in (4, 1)]

    assert [is_continued(context, context.with_role("train_loss")[0]) for context in contexts] == [True, False]


FLAT = [f"step {step} loss {2.31 - 0.0003 * step + 0.02 * (step % 3):.4f}" for step in range(1, 41)]


@pytest.mark.parametrize(
    ("log", "continued"),
    [
        (["Resuming training from checkpoints/last.ckpt", *FLAT], True),
        (["=> loaded checkpoint 'best.pth.tar' (epoch 42)", *FLAT], True),
        (["Resuming from step 0", *FLAT], False),
        ([*FLAT, "Resuming training from checkpoints/last.ckpt"], False),
        (["Training from scratch", *FLAT], False),
    ],
)
def test_a_training_that_continues_is_not_stuck(tmp_path: Path, log: list[str], continued: bool) -> None:
    """Its first level is that of a trained model, so a small fall since then is no fault by itself."""
    (tmp_path / "train.log").write_text("\n".join(log) + "\n")
    found = la.diagnose(tmp_path / "train.log")

    assert found.features.values["train_loss_continued"] is continued
    assert ("stuck-loss" not in [symptom.id for symptom in found.symptoms]) is continued
