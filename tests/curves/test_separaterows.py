"""Losses without a step: results of separate experiments, or the course of one training."""

from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose_paths

U_SHAPE = (0.9, 0.61, 0.44, 0.39, 0.41, 0.52, 0.78)
FALLING = tuple(2 / (1 + i) for i in range(7))
GRID = [(d, w, 10.0**-i) for d in (0.0, 0.2, 0.5) for w in (64, 128, 256) for i in (1, 2, 3)]
SWEEPS = (
    "".join(f"reg={10.0 ** (2 - i):g} train_loss={0.9 - 0.1 * i:.3f} val_loss={x}\n" for i, x in enumerate(U_SHAPE)),
    "".join(
        f"dropout={d} width={w} lr={lr} | train loss {0.9 - 0.03 * i:.3f} | val loss {0.3 + 0.03 * i:.3f}\n"
        for i, (d, w, lr) in enumerate(GRID)
    ),
    "".join(f"=== fold {i} ===\nval_loss: {x}\n" for i, x in enumerate(U_SHAPE)),
)
COURSES = (
    "".join(f"loss: {x:.3f} acc: {1 - x / 3:.3f}\n" for x in FALLING),
    "".join(f"lr={0.01 / 2**i:g} loss={x:.3f}\n" for i, x in enumerate(FALLING)),
    "".join(f"epoch {i} val_loss {x}\n" for i, x in enumerate(U_SHAPE)),
    "".join(f"train_loss: {1 / (1 + i):.3f} val_loss: {0.5 + 0.02 * abs(i - 8):.3f}\n" for i in range(30)),
)


def _losses(tmp_path: Path, log: str) -> set[str]:
    path = tmp_path / "run.log"
    path.write_text(log)
    (found,) = diagnose_paths([path])
    return {curve.role.name for curve in found.curves if "loss" in curve.metric}


@pytest.mark.parametrize("log", SWEEPS)
def test_rows_of_settings_are_no_course(tmp_path: Path, log: str) -> None:
    """A grid beside the losses, or few losses of which none falls steadily."""
    assert _losses(tmp_path, log) == {"other"}


@pytest.mark.parametrize("log", COURSES)
def test_a_course_without_steps(tmp_path: Path, log: str) -> None:
    """A loss that falls steadily, an epoch or many values make it a course, whatever schedule is beside it."""
    assert "other" not in _losses(tmp_path, log)
