"""Features of restarts."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from loganalyst.features import resume
from loganalyst.features.context import Context
from loganalyst.model import Features, table

FeaturesOf = Callable[..., Features]
STEPS = np.arange(1000)
FALL = 1 + 2 * np.exp(-STEPS / 200) + np.random.default_rng(0).normal(0, 0.01, 1000)


def logged(values: np.ndarray, metric: str = "loss", restart: int = 600) -> pl.DataFrame:
    session = (restart <= STEPS).astype(np.int32)
    return table("points", {"session": session, "metric": metric, "step": STEPS, "value": values, "source": "m.csv"})


def test_a_loss_that_continues(features_of: FeaturesOf) -> None:
    """No rise at the restart."""
    row = features_of({}, points=logged(FALL)).values

    assert (row["resume_count"], row["resume_step"]) == (1, 600)
    assert row["resume_loss_ratio"] == pytest.approx(1.0, abs=0.02)
    assert abs(row["resume_start_share"]) < 0.02  # type: ignore[arg-type]


def test_a_loss_that_starts_over(features_of: FeaturesOf) -> None:
    """The second session begins where the first began."""
    row = features_of({}, points=logged(np.where(STEPS < 600, FALL, FALL[STEPS - 600]))).values

    assert row["resume_start_share"] == pytest.approx(1.0, abs=0.1)
    assert row["resume_loss_ratio"] == pytest.approx(3 / 1.1, rel=0.05)
    assert row["resume_loss_noise"] > 50  # type: ignore[operator]


def test_a_rate_that_jumps_at_the_restart(features_of: FeaturesOf) -> None:
    """Ten times the rate after the restart."""
    both = pl.concat([logged(FALL), logged(np.where(STEPS < 600, 0.01, 0.1), "lr")])

    assert features_of({}, points=both).values["resume_lr_ratio"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("steps", "repeated"),
    [
        ([*range(50), *range(30, 80)], (20, 30, 49)),
        (range(100), (0, None, None)),
        ([*range(10)] * 10, (0, None, None)),
    ],
)
def test_steps_that_go_back_within_a_file(
    features_of: FeaturesOf, steps: list[int], repeated: tuple[int | None, ...]
) -> None:
    """Twenty steps stand twice; steps that go back in each pass count something else."""
    points = table("points", {"session": 0, "metric": "loss", "step": np.array(steps), "value": 1.0, "source": "m.csv"})
    row = features_of({}, points=points).values

    assert tuple(row[f"repeated_steps_{name}"] for name in ("count", "first", "last")) == repeated


@pytest.mark.parametrize("restart", [2, 998, 1000])
def test_too_few_points_on_one_side(features_of: FeaturesOf, restart: int) -> None:
    """A restart at the very ends does not count."""
    row = features_of({}, points=logged(FALL, restart=restart)).values

    assert (row["resume_count"], row["resume_step"]) == (0, None)


def test_a_run_without_its_metrics_has_no_values(context_of: Callable[..., Context]) -> None:
    """Another metric gives no value, not even 0."""
    assert resume.compute(context_of({"other": [1.0, 2.0, 3.0]})) == {}


def test_a_restart_that_only_the_log_names(features_of: FeaturesOf) -> None:
    """One session, and a line behind step 599 that names the checkpoint."""
    points = table(
        "points",
        {
            "session": 0,
            "metric": "loss",
            "step": STEPS,
            "value": FALL + 0.3 * (STEPS >= 600),
            "source": "a.log",
            "line": 2 * STEPS + 2,
        },
    )
    said = {"session": 0, "file": "a.log", "line": [1201], "part": ["advice"], "pattern": ["continued-from-checkpoint"]}
    row = features_of({}, points=points, lines=table("lines", said)).values

    assert (row["resume_count"], row["resume_step"]) == (1, 600)
    assert row["resume_loss_noise"] > 10  # type: ignore[operator]
    assert features_of({}, points=points).values["resume_count"] == 0
