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
