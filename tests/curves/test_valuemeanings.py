"""Roles that values reveal: clocks, exploration rates, lower bounds."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from loganalyst.curves.roles import all_roles, assign
from loganalyst.curves.valuemeanings import with_meanings
from loganalyst.model import Curve
from loganalyst.pipeline import diagnose


def of(**metrics: Sequence[float]) -> list[Curve]:
    """What the curves are taken for."""
    roles = assign(metrics)
    return with_meanings([curve(name, values, roles[name][0].name) for name, values in metrics.items()], all_roles())


def curve(name: str, values: Sequence[float], role: str) -> Curve:
    count = len(values)
    none = np.full(count, np.nan)
    rows = np.zeros(count, np.int32)
    return Curve(
        name, all_roles()[role], np.arange(count), np.array(values), none, none, rows, rows.astype(np.int64), None
    )


@pytest.mark.parametrize(
    ("seconds", "role"),
    [
        ([49.4, 96.4, 142.3, 188.8], "wall_time"),
        ([49.4, 47.0, 45.9, 46.5], "step_time"),
        ([10.0, 10.4, 10.9, 11.5], "step_time"),
        ([math.nan, 5.0, 9.8, 15.1], "wall_time"),
    ],
)
def test_an_accumulated_time_is_a_clock(seconds: list[float], role: str) -> None:
    """YOLO writes the seconds since the start; as a time per epoch the run would seem to slow down."""
    assert [c.role.name for c in of(time=seconds)] == [role]


@pytest.mark.parametrize(
    ("epsilon", "role"),
    [
        ([0.74, 0.4, 0.2, 0.05], "rl_loss"),
        ([0.1, 0.4, 0.9, 1.3], "train_loss"),  # a privacy budget that is spent
        ([0.2, 0.2, 0.2, 0.2], "train_loss"),
        ([8.0, 4.0, 2.0, 1.0], "train_loss"),
    ],
)
def test_falling_exploration_means_reinforcement_learning(epsilon: list[float], role: str) -> None:
    """A loss that grows with the expected reward has not diverged."""
    assert [c.role.name for c in of(loss=[0.1, 0.2, 0.3, 0.3], epsilon=epsilon)] == [role, "exploration"]


def test_a_rising_negative_bound_is_negated() -> None:
    """A bound above 0, or a falling one, is a loss already."""
    assert [(c.metric, c.values.tolist()) for c in of(train_elbo=[-9.0, -5.0, -4.0])] == [
        ("-train_elbo", [9.0, 5.0, 4.0])
    ]
    assert [c.metric for c in of(train_elbo=[9.0, 5.0, 4.0], val_elbo=[-1.0, -2.0, -3.0])] == ["train_elbo", "val_elbo"]
    assert [c.metric for c in of(velbow_loss=[-9.0, -5.0, -4.0])] == ["velbow_loss"]


def test_a_bound_above_0_that_is_lowest_at_first_is_maximised() -> None:
    rising, diverged = [float(k) for k in range(1, 13)], [9.0, 5.0, 4.0, 3.0, 2.0, 4.0, 8.0, 16.0, 20.0, 30.0]

    assert [c.metric for c in of(train_elbo=rising)] == ["-train_elbo"]
    assert [c.metric for c in of(train_elbo=diverged)] == ["train_elbo"]
    assert [c.metric for c in of(train_elbo=rising[:9])] == ["train_elbo"]


def test_a_bound_that_rises_and_settles_is_healthy(tmp_path: Path) -> None:
    """Training maximises an evidence lower bound."""
    noise = 0.5 * np.random.default_rng(3).normal(size=80)
    bound = -180 + 90 * (1 - np.exp(-np.arange(80) / 12)) + noise
    pl.DataFrame({"step": range(80), "train_elbo": bound, "val_elbo": bound - 2}).write_csv(tmp_path / "metrics.csv")

    assert diagnose(tmp_path).status == "healthy"
