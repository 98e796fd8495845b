"""Records as people publish them: what looks like a fault at first and is none, beside its twin that is one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loganalyst import pipeline
from loganalyst.model import Diagnosis

EPOCHS = np.arange(1, 13)


def record(tmp_path: Path, **columns: Any) -> Diagnosis:
    """A table of these columns, diagnosed."""
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    text = "\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows])
    (tmp_path / "metrics.csv").write_text(text + "\n")
    return pipeline.diagnose(tmp_path)


def said(d: Diagnosis) -> tuple[str, list[str]]:
    return d.status, [cause.label for cause in d.causes[:1]]


def test_a_rising_loss_under_a_falling_error_rate(tmp_path: Path) -> None:
    """Speech models grow surer of their mistakes while they make fewer; with as many mistakes it is overfitting."""
    loss = {"epoch": EPOCHS, "loss": 0.9 * 0.5**EPOCHS, "eval_loss": 0.3 + 0.015 * EPOCHS}

    assert said(record(tmp_path, **loss, eval_wer=34.6 - 0.3 * EPOCHS)) == ("healthy", [])
    assert said(record(tmp_path, **loss, eval_wer=34.6 + 0.3 * EPOCHS)) == ("diagnosis_complete", ["overfitting"])


def test_a_held_out_loss_that_never_falls(tmp_path: Path) -> None:
    """Pairs learned by heart: training falls to a twentieth, the held-out loss stays where it was."""
    wave = 4.1 + 0.04 * np.sin(EPOCHS)

    d = record(tmp_path, epoch=EPOCHS, train_loss=4.4 * 0.7**EPOCHS, val_loss=wave + 0.01 * EPOCHS)

    assert said(d) == ("diagnosis_complete", ["overfitting"])
    assert d.causes[0].evidence[0].id == "nothing-carried-over"


def test_large_gradients_beside_a_loss_that_fell_to_a_tenth(tmp_path: Path) -> None:
    """A norm of a million is one of units where training went well, and a fault where the loss stayed."""
    steps = np.arange(80)
    norm = 6e5 * (1 + 0.4 * np.sin(steps))
    down, flat = 4 * np.exp(-steps / 20) + 0.05 + 0.02 * np.cos(3 * steps), 4 + 0.3 * np.cos(3 * steps)

    assert said(record(tmp_path, step=steps, loss=down, grad_norm=norm)) == ("healthy", [])
    assert record(tmp_path, step=steps, loss=flat, grad_norm=norm).status != "healthy"


def test_epochs_that_fell_at_once_and_then_slowly(tmp_path: Path) -> None:
    """Most of the fall lies before the first level, and it goes on beyond the noise: neither stuck nor on a plateau."""
    slow = [0.570, 0.470, 0.4557, 0.4523, 0.4548, 0.4441, 0.4447, 0.4424, 0.4413, 0.4427, 0.4405]
    held_out = 0.69 - 0.005 * np.arange(11)

    assert said(record(tmp_path, epoch=range(11), train_loss=slow, valid_loss=held_out)) == ("healthy", [])
    assert record(tmp_path, epoch=range(11), train_loss=[0.47, *slow[1:]], valid_loss=held_out).status != "healthy"


def test_recall_that_is_given_up_for_precision(tmp_path: Path) -> None:
    """Recall falls by more than a third while F1 rises."""
    losses = {"Train Loss": 0.6 * 0.9**EPOCHS, "Valid Loss": 0.55 * 0.93**EPOCHS}
    scores = {"F1 Score": 0.3 + 0.015 * EPOCHS, "Precision": 0.17 + 0.02 * EPOCHS, "Recall": 1 - 0.035 * EPOCHS}

    assert said(record(tmp_path, **losses, **scores)) == ("healthy", [])


@pytest.mark.parametrize(
    ("rewards", "status"), [(np.linspace(-900, -10, 60), "healthy"), (np.linspace(200, 5, 60), "diagnosis_complete")]
)
def test_a_monitor_tells_of_rewards(tmp_path: Path, rewards: np.ndarray, status: str) -> None:
    """The rows of Stable-Baselines3's monitor are judged by their return."""
    rows = "\n".join(f"{r:.2f},100,{i}" for i, r in enumerate(rewards))
    (tmp_path / "monitor.csv").write_text(f'#{{"t_start": 1.7e9, "env_id": "Some-v1"}}\nr,l,t\n{rows}\n')

    assert pipeline.diagnose(tmp_path).status == status


def test_a_held_out_loss_that_is_never_a_number(tmp_path: Path) -> None:
    """Told in a note: it is no fault of the training."""
    d = record(tmp_path, epoch=EPOCHS, train_loss=0.8**EPOCHS, val_loss=["nan"] * 12)

    assert "held-out-loss-never-a-number" in [note.id for note in d.notes]


def test_a_few_held_out_samples_at_the_end_of_a_great_fall(tmp_path: Path) -> None:
    """What jumps by most of its level is a fortieth of what was learned; where the level is high it is a fault."""
    epochs = np.arange(36)
    wave = 0.6 * np.sin(2.1 * epochs) * np.cos(0.7 * epochs)
    train = 1.6 * np.exp(-epochs / 6) + 0.07 * np.exp(-epochs / 60)

    small = record(tmp_path, epoch=epochs, loss=train, val_loss=0.4 * train * (1 + wave))
    assert said(small) == ("healthy", [])

    large = record(tmp_path, epoch=epochs, loss=train, val_loss=(1.1 * np.exp(-epochs / 40) + 0.1) * (1 + wave))
    assert "held-out-jumps" in [symptom.id for symptom in large.symptoms]


def test_a_score_that_swings(tmp_path: Path) -> None:
    """Its last value lies a third below the highest, as one in two does; one that goes down to there has lost it."""
    steps = np.arange(150)
    loss = {"step": steps, "train_loss": 2 + 1.7 * np.exp(-steps / 30), "val_loss": 2.4 + 1.4 * np.exp(-steps / 40)}
    level = 0.26 - 0.25 * np.exp(-steps / 40)

    swings = record(tmp_path, **loss, val_acc=level + 0.05 * np.sin(1.9 * steps) - 0.06 * (steps == 149))
    assert "val-divergence" not in [symptom.id for symptom in swings.symptoms]

    lost = record(tmp_path, **loss, val_acc=np.where(steps < 100, 2.4 * level, 0.21) + 0.01 * np.sin(1.9 * steps))
    assert "val-divergence" in [symptom.id for symptom in lost.symptoms]


def test_a_held_out_loss_that_ends_above_its_first_values(tmp_path: Path) -> None:
    """Half of the training loss gone, the held-out loss a tenth higher than at the start: nothing carries over."""
    epochs = np.arange(30)
    loss = {"epoch": epochs, "train_loss": 0.09 + 0.09 * np.exp(-epochs / 12)}
    wave = 0.004 * np.sin(2.3 * epochs) - 0.012 * np.exp(-(((epochs - 8) / 3) ** 2))

    assert said(record(tmp_path, **loss, val_loss=0.2 + 0.0008 * epochs + wave))[1] == ["overfitting"]
    assert said(record(tmp_path, **loss, val_loss=0.2 - 0.0008 * epochs + wave)) == ("healthy", [])
