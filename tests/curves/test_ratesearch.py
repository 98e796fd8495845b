"""Searches for the learning rate are no trainings."""

from pathlib import Path

import numpy as np
import pytest

from loganalyst.curves.ratesearch import is_search
from loganalyst.pipeline import diagnose

STEPS = np.arange(90)


@pytest.mark.parametrize(
    "rates",
    [np.geomspace(1e-7, 10, 90), np.geomspace(1e-6, 1, 12), np.round(np.geomspace(1e-5, 1, 40), 6)],
)
def test_a_search(rates: np.ndarray) -> None:
    assert is_search(rates)


@pytest.mark.parametrize(
    "rates",
    [
        np.linspace(1e-7, 1e-3, 90),  # a warm-up in a line
        np.geomspace(1e-3, 1e-6, 90),  # a decay
        np.geomspace(1e-3, 1e-1, 90),  # a short way
        np.geomspace(1e-7, 10, 8),  # few points
        np.full(90, 1e-3),
        np.array([np.nan, *np.geomspace(1e-7, 10, 89)]),
        np.concatenate([np.geomspace(1e-7, 1e-3, 30), np.full(60, 1e-3)]),
    ],
)
def test_no_search(rates: np.ndarray) -> None:
    assert not is_search(rates)


@pytest.mark.parametrize("span", [1e-7, 0.1])
def test_only_a_training_has_a_rate_too_high(tmp_path: Path, span: float) -> None:
    """The same loss, which runs away: a cause at ordinary rates, and the purpose of a search."""
    loss = [*(5.2 - 0.03 * STEPS[:70]), *(3.1 * 1.6 ** np.arange(16)), *[float("nan")] * 4]
    rates = np.geomspace(span, 10, 90)
    log = tmp_path / "job.log"
    rows = zip(STEPS, rates, loss, strict=True)
    log.write_text("".join(f"step {i} lr {r:.3e} loss {x:.4f}\n" for i, r, x in rows) + "Finished.\n")
    diagnosis = diagnose(log)

    assert {m.name: m.role for m in diagnosis.metrics}["loss"] == ("other" if span < 1e-4 else "train_loss")
    assert bool(diagnosis.causes) == (span > 1e-4)
