"""What the diagnosis is known to get wrong: a test states the right answer and is expected to fail."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from loganalyst import diagnose
from loganalyst.model import Diagnosis

Logged = Callable[..., Diagnosis]
RNG = np.random.default_rng


@pytest.fixture
def logged(tmp_path: Path) -> Logged:
    """`logged(loss=[…])`: the diagnosis of a run that logged these metrics, one row a step."""

    def run(**metrics: NDArray[np.float64]) -> Diagnosis:
        rows = len(next(iter(metrics.values())))
        pl.DataFrame({"step": np.arange(rows), **metrics}).write_csv(tmp_path / "metrics.csv")
        return diagnose(tmp_path)

    return run


@pytest.mark.xfail(strict=True, reason="how low a loss could get is not in its curve; a far fall reads as convergence")
def test_plateau_after_a_far_fall(logged: Logged) -> None:
    """A loss that falls by 99 % in a tenth of the run and then stands still for a term it cannot learn."""
    steps = np.arange(1000)
    loss = (120 * np.exp(-steps / 20) + 0.89) * RNG(0).lognormal(0, 0.01, 1000)

    assert "plateau" in [c.label for c in logged(train_loss=loss).causes]


@pytest.mark.xfail(strict=True, reason="fine-tuning that changes little and training that learns nothing look the same")
def test_fine_tuning_of_a_good_model(logged: Logged) -> None:
    """A loss that starts at what the model can reach and wanders there is healthy, not stuck."""
    assert logged(loss=0.5 + 0.03 * RNG(2).normal(size=80)).status == "healthy"
