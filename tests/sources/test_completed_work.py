"""Lines that state a completed unit of work (a trial, a fold, an epoch) show that work was done, without a curve."""

from pathlib import Path

import pytest

from loganalyst.pipeline import diagnose

OPTUNA = "[I 2024-03-02 18:41:50,908] "
WORK = {
    "optuna": OPTUNA + "Trial {n} finished with value: 0.8{n} and parameters: {{'lr': 0.01}}. Best is trial 0.",
    "optuna, several values": OPTUNA + "Trial {n} finished with values: [0.8{n}, 3.1] and parameters: {{'lr': 0.01}}.",
    "optuna before 1.3": OPTUNA + "Finished trial#{n} resulted in value: 0.8{n}. Current best value is 0.8.",
    "optuna, pruned": OPTUNA + "Trial {n} pruned. ",
    "ray tune": "Trial train_fn_ab12c_0000{n} completed after 10 iterations at 2024-01-01 00:00:0{n}.",
    "w&b sweep": "2024-03-02 18:41:50,908 - wandb.wandb_agent - INFO - Cleaning up finished run: q1bm9oi{n}",
    "scikit-learn": "[CV {n}/5] END .................C=1, kernel=rbf;, score=0.96{n} total time=   0.{n}s",
    "scikit-learn before 1.0": "[CV] .......... C=1, kernel=rbf, score=0.96{n}, total=   0.{n}s",
    "scores of folds": "Cross-validation scores: [0.93921569 0.9332023{n}]",
    "a fold": "Fold {n}/5 score: 0.8{n}",
    "epochs": "Epoch {n}/5 completed in 12.{n} s",
    "a bar": "Training: 100%|##########| 1000/1000 [10:00<00:00,  1.6{n}it/s]",
}  # fmt: skip


@pytest.mark.parametrize("line", WORK.values(), ids=WORK)
def test_a_log_that_states_completed_work_is_healthy(tmp_path: Path, line: str) -> None:
    """It gives no curve, so the answer is not sure, and the note says why."""
    path = tmp_path / "a.log"
    path.write_text("".join(line.format(n=n) + "\n" for n in range(1, 6)))
    found = diagnose(path)

    assert (found.status, found.confidence, found.causes) == ("healthy", 0.88, ())
    assert [note.id for note in found.notes] == ["work-without-curve"]


@pytest.mark.parametrize(
    "line",
    [
        OPTUNA + "A new study created in memory with name: no-name-{n}",
        OPTUNA + "Trial {n} finished with value: nan and parameters: {{'lr': 0.01}}. Best is trial 0 with value: nan.",
        "Starting trial {n}",
        "epoch {n} is not complete",
        "Finished loading shard {n}",
        "Loading weights: 100%|##########| {n}/{n} [00:00<00:00, 9.9it/s]",
    ],
)
def test_begun_or_failed_work_is_not_completed(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(line.format(n=n) + "\n" for n in range(1, 6)))

    assert diagnose(path).status == "insufficient_data"


TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x()\nValueError: bad\n'
ENDS = {
    "traceback": (TRACEBACK, "code-exception"),
    "traceback behind a bar": (f"Training: 100%|###| 10/10 [00:01<00:00,  4.9it/s]{TRACEBACK}", "code-exception"),
    "time limit": ("slurmstepd: error: *** JOB 7 CANCELLED AT 2024-01-01 DUE TO TIME LIMIT ***\n", "slurm-time-limit"),
    "an error without a pattern": ("fatal: write error: no space on device\n", "disk-full"),
    "a last trial without a value": ("Trial 2 finished with value: nan and parameters: {'lr': 0.1}.\n", "nan-loss"),
}  # fmt: skip


@pytest.mark.parametrize(("end", "cause"), ENDS.values(), ids=ENDS)
def test_completed_work_hides_no_fault(tmp_path: Path, end: str, cause: str) -> None:
    path = tmp_path / "a.log"
    path.write_text("Trial 1 finished with value: 0.8 and parameters: {'lr': 0.1}.\nFold 1/5 error: 0.3\n" + end)

    assert [c.id for c in diagnose(path).causes][:1] == [cause]
