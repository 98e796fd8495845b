"""Whole diagnoses of logs whose numbers were rounded: a printed 0 is no proof of 0."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import loganalyst as la
from loganalyst.model import Diagnosis

EPOCHS = np.arange(60)
STEPS = np.arange(200)


def noise(points: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(points)


def csv(folder: Path, columns: dict[str, np.ndarray], decimals: dict[str, int | None]) -> Diagnosis:
    """The diagnosis of a table whose columns were rounded; None writes all digits."""
    cells = [
        [str(float(x)) if decimals[name] is None else f"{x:.{decimals[name]}f}" for x in column]
        for name, column in columns.items()
    ]
    rows = [",".join((str(i), *row)) for i, row in enumerate(zip(*cells, strict=True))]
    (folder / "metrics.csv").write_text("\n".join((",".join(("step", *columns)), *rows)) + "\n")
    return la.diagnose(folder / "metrics.csv")


def log(folder: Path, form: str, *columns: np.ndarray) -> Diagnosis:
    """The diagnosis of a job log with one line for each point."""
    lines = [form.format(i, *row) for i, row in enumerate(zip(*columns, strict=True))]
    (folder / "train.log").write_text("\n".join(lines) + "\n")
    return la.diagnose(folder / "train.log")


def causes(found: Diagnosis) -> Sequence[str]:
    return [c.id for c in found.causes]


@pytest.mark.parametrize("speed", [0.35, 1.0, 1.8, 3.5])
def test_an_easy_task_whose_loss_is_printed_as_zero_is_healthy(tmp_path: Path, speed: float) -> None:
    """The held-out accuracy is complete, in a table and in a job log."""
    loss = 2.3 * np.exp(-speed * EPOCHS + 0.15 * noise(60))
    accuracy = 1 - 0.9 * np.exp(-speed * EPOCHS)

    table = csv(tmp_path, {"train_loss": loss, "val_acc": accuracy}, {"train_loss": 4, "val_acc": 4})
    printed = log(tmp_path, "Epoch {}/60 - loss: {:.3f} - val_acc: {:.3f}", loss, accuracy)

    assert (table.status, printed.status) == ("healthy", "healthy")


@pytest.mark.parametrize("decimals", [4, None])
def test_a_loss_that_stops_at_zero_is_a_fault(tmp_path: Path, decimals: int | None) -> None:
    """From about 2 to 0 within one step, for ever: rounded or not. The sentence says what was logged."""
    loss = np.where(STEPS < 80, 2.3 - 0.002 * STEPS + 0.03 * noise(200), 0.0)
    found = csv(tmp_path, {"train_loss": loss}, {"train_loss": decimals})

    assert causes(found)[0] == "loss-frozen-at-zero"
    words = "0.0000 (below 0.00005)" if decimals else "exactly 0"
    assert found.symptoms[0].text == f"train_loss is {words} from step 80 on"


def test_a_rate_that_is_printed_as_zero_is_not_zero(tmp_path: Path) -> None:
    """2e-5 at four decimals. A loss that stays where it was does not show that the rate is 0; all digits do."""
    loss = 2.3 + 0.03 * noise(200)
    rounded = csv(tmp_path, {"loss": loss, "lr": np.full(200, 2e-5)}, {"loss": 4, "lr": 4})
    exact = csv(tmp_path, {"loss": loss, "lr": np.zeros(200)}, {"loss": None, "lr": None})

    assert "lr-too-low" not in causes(rounded)
    assert causes(exact)[0] == "lr-too-low"


def test_a_printed_schedule_that_ends_at_zero_is_not_exhausted(tmp_path: Path) -> None:
    """A cosine from 0.0003: its last 40 values are printed as 0.0000."""
    loss = 2 * np.exp(-STEPS / 50) + 0.5 + 0.03 * noise(200)
    rate = 0.00015 * (1 + np.cos(np.pi * STEPS / 200))

    found = log(tmp_path, "step {} loss: {:.4f} lr: {:.4f}", loss, rate)

    assert (found.status, found.symptoms) == ("healthy", ())


def test_a_gradient_that_is_printed_as_zero_has_not_vanished(tmp_path: Path) -> None:
    """Norms of 0.004 that fall with the loss, at three decimals."""
    loss = 0.02 * np.exp(-STEPS / 60) + 0.005 + 0.0005 * noise(200)
    norms = 0.004 * np.exp(-STEPS / 40 + 0.3 * noise(200, 1))

    found = log(tmp_path, "step {} loss: {:.4f} grad_norm: {:.3f}", loss, norms)

    assert (found.status, found.symptoms) == ("healthy", ())


def test_a_score_with_two_decimals_is_not_the_same_for_every_sample(tmp_path: Path) -> None:
    """It may repeat although the model changes. With all digits a repeated score means the same answers."""
    loss = 0.6 + 0.01 * noise(60)
    score = 0.45 + 0.02 * np.exp(-EPOCHS / 3) * noise(60, 1)
    still = np.where(EPOCHS < 12, 0.45 + 0.02 * noise(60, 1), 0.45123)

    def says_so(decimals: int | None, values: np.ndarray) -> bool:
        found = csv(tmp_path, {"loss": loss, "val_acc": values}, {"loss": 4, "val_acc": decimals})
        return any("every sample" in e.text and e.holds for c in found.causes for e in c.evidence)

    assert not says_so(2, score)
    assert says_so(None, still)


def test_a_term_that_falls_below_its_last_digit_is_no_zero_term(tmp_path: Path) -> None:
    """A note says that a term is 0; 0.02 that fell to 0.000 is none."""
    terms = {"box_loss": 0.8 * np.exp(-STEPS / 40) + 0.4, "cls_loss": 0.02 * np.exp(-STEPS / 20)}
    total = {"loss": sum(terms.values()) + 0.02 * noise(200)}

    found = csv(tmp_path, total | terms, dict.fromkeys((*total, *terms), 3))

    assert "term-is-zero" not in {n.id for n in found.notes}


def test_a_table_of_openai_baselines_is_reported_by_its_steps(tmp_path: Path) -> None:
    """`total/steps` counts 2,000 steps a row."""
    reward = 100 * (1 - np.exp(-EPOCHS / 15)) + noise(60)
    columns = {"rollout/return": reward, "total/epochs": EPOCHS // 20, "total/steps": 2000.0 * (EPOCHS + 1)}
    names, rows = ",".join(columns), zip(*columns.values(), strict=True)
    (tmp_path / "progress.csv").write_text("\n".join((names, *(f"{a:.4f},{b},{c:.0f}" for a, b, c in rows))) + "\n")

    assert la.diagnose(tmp_path / "progress.csv").summary["last_step"] == 120_000
