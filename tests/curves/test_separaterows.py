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


TABLES = (
    "C,gamma,train_loss,val_loss\n"
    + "".join(f"{c},{g},{0.1 * c:.2f},{g + 0.5}\n" for c in (0.1, 1, 10, 100) for g in (0.001, 0.01, 0.1)),
    "lr,epochs,batch_size,train_loss,val_loss\n"
    + "".join(f"{lr},1,{b},{b * lr:.2f},{lr + 0.5}\n" for lr in (0.1, 0.01, 0.001) for b in (16, 32, 64)),
)


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_a_table_with_a_grid_beside_them_are_no_course(tmp_path: Path, table: str) -> None:
    """Each row is a setting of a sweep."""
    path = tmp_path / "sweep.csv"
    path.write_text(table)
    (found,) = diagnose_paths([path])

    assert {curve.role.name for curve in found.curves if "loss" in curve.metric} == {"other"}


def test_a_table_of_few_losses_without_a_grid_is_a_course(tmp_path: Path) -> None:
    """Unlike a log, a table holds nothing but its rows: a loss that rises in it is one that rose."""
    path = tmp_path / "history.csv"
    path.write_text("loss,val_loss\n" + "".join(f"{1 / (1 + i):.3f},{x}\n" for i, x in enumerate(U_SHAPE)))
    (found,) = diagnose_paths([path])

    assert {curve.role.name for curve in found.curves} == {"train_loss", "val_loss"}


def test_a_table_with_epochs_and_a_cyclic_rate_is_a_course(tmp_path: Path) -> None:
    """A rate that takes turns is a schedule where the rows are counted."""
    path = tmp_path / "history.csv"
    rates = (0.1, 0.01, 0.001) * 3
    path.write_text("epoch,lr,train_loss\n" + "".join(f"{i},{lr},{2 / (1 + i):.3f}\n" for i, lr in enumerate(rates)))
    (found,) = diagnose_paths([path])

    assert {curve.role.name for curve in found.curves} == {"learning_rate", "train_loss"}
