"""Scores without steps: the results of separate experiments, or the course of one training."""

from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose_paths

SCORES = (0.8332, 0.8647, 0.8575, 0.8401, 0.8324)
SPLITS = "".join(f"Val Split: {10 * i}% | Test Accuracy: {s}\n" for i, s in enumerate(SCORES))


@pytest.mark.parametrize(
    ("log", "separate"),
    [
        (SPLITS, True),
        ("".join(f"Epoch {i} Test Accuracy: {s}\n" for i, s in enumerate(SCORES, 1)), False),
        ("".join(f"step {i + 1}/5 Test Accuracy: {s}\n" for i, s in enumerate(SCORES)), False),
        ("".join(f"loss: {1 / (i + 1)} Test Accuracy: {s}\n" for i, s in enumerate(SCORES)), False),
        ("loss: 0.5\n" * 9, False),
    ],
)
def test_scores_without_a_step_or_a_loss(tmp_path: Path, log: str, separate: bool) -> None:
    """A step, an epoch or a loss of each score makes it a course."""
    path = tmp_path / "run.log"
    path.write_text(log)
    (found,) = diagnose_paths([path])

    assert found.features.values["scores_may_be_separate"] is separate


def test_lower_results_behind_higher_ones_are_no_fall(tmp_path: Path) -> None:
    """Five experiments: the last has a lower accuracy than the second."""
    path = tmp_path / "run.log"
    path.write_text(SPLITS)
    (found,) = diagnose_paths([path])

    assert (found.status, [note.id for note in found.notes][:1]) == ("healthy", ["separate-results"])


def test_a_few_results_are_no_short_course(tmp_path: Path) -> None:
    """Four networks, whose scores are printed one after the other: none of them trained too briefly."""
    path = tmp_path / "run.log"
    path.write_text("".join(f"Running for net {s * 7}\n1-NN accuracy original: {s}\n" for s in SCORES[:4]))
    (found,) = diagnose_paths([path])

    assert (found.status, found.features.values["objective_points"]) == ("healthy", 4)


def test_results_of_tests_behind_a_training(tmp_path: Path) -> None:
    """Two test sets with losses of their own: the held-out loss of the training is its course."""
    path = tmp_path / "run.log"
    epochs = "".join(f"Epoch {i}/17\n - 8s - loss: {3 / i:.4f} - val_loss: {3.2 / i:.4f}\n" for i in range(1, 18))
    path.write_text(f"{epochs}loss (test-set): 0.6825\nloss (test-set): 1.2863\n")
    (found,) = diagnose_paths([path])

    assert found.features.values["val_loss_metric"] == "val_loss"
    assert found.features.values["val_loss_points"] == 17
