"""Features of warnings in the job log."""

from pathlib import Path

import pytest

import loganalyst as la
from loganalyst.features import warnings

WARNING = (
    "UserWarning: {}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor.\n"
)


@pytest.mark.parametrize("operation", ["var", "std"])
def test_a_variance_of_too_few_values_is_counted(tmp_path: Path, operation: str) -> None:
    (tmp_path / "job.log").write_text("step 1 loss 2.0\n" + 2 * WARNING.format(operation) + "step 2 loss 1.9\n")
    found = la.diagnose(tmp_path / "job.log").features

    assert found.values["variance_warning_count"] == 2
    assert found.values["variance_warning_operation"] == operation
    assert found.witnesses["variance_warning_count"].line == 2


def test_samples_without_labels_are_counted(tmp_path: Path) -> None:
    """FastChat prints the two lengths of each sample that it masks."""
    line = "WARNING: tokenization mismatch: 132 vs. 124. (ignored)\n"
    (tmp_path / "job.log").write_text("step 1 loss 2.0\n" + 3 * line + "step 2 loss 1.9\n")
    found = la.diagnose(tmp_path / "job.log").features

    assert found.values["labels_masked_line_count"] == 3
    assert found.witnesses["labels_masked_line_count"].line == 2


@pytest.mark.parametrize(
    "said",
    [
        "ModuleCmd_Load.c(244):ERROR:105: Unable to locate a modulefile for 'cuda/12.6'",
        "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.",
        "/var/spool/slurmd/job7/slurm_script: line 9: /home/u/env/bin/activate: No such file or directory",
    ],
)
def test_a_shell_goes_on_after_a_line_that_it_could_not_run(tmp_path: Path, said: str) -> None:
    (tmp_path / "job.log").write_text(f"{said}\nloading the model\nDevice: cuda:0\nwrote ./out/test1.wav\n")
    found = la.diagnose(tmp_path / "job.log")

    assert found.features.values["script_line_count"] == 1
    assert found.features.values["script_line_text"] == said
    assert found.features.witnesses["script_line_text"].line == 1
    assert (found.status, found.causes) == ("insufficient_data", ())
    assert [note.id for note in found.notes] == ["job-tells-little", "script-line-not-run"]


def test_a_log_without_the_warning_has_none(tmp_path: Path) -> None:
    """0 with a log, NULL without one."""
    (tmp_path / "job.log").write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
    (tmp_path / "metrics.csv").write_text("step,loss\n1,2.0\n2,1.9\n")

    assert la.diagnose(tmp_path / "job.log").features.values["variance_warning_count"] == 0
    values = la.diagnose(tmp_path / "metrics.csv").features.values
    assert {values[feature.name] for feature in warnings.FEATURES} == {None}


@pytest.mark.parametrize(
    ("line", "operation"),
    [
        ("train.py:88: RuntimeWarning: divide by zero encountered in log", "log"),
        ("train.py:88: RuntimeWarning: divide by zero encountered in true_divide", "divide"),
        ("train.py:88: RuntimeWarning: divide by zero encountered in scalar divide", "divide"),
        ("train.py:88: RuntimeWarning: overflow encountered in exp", "exp"),
        ("train.py:88: RuntimeWarning: invalid value encountered in sqrt", "sqrt"),
        ("RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.", "log"),
        ('!!! Detected Infinity or NaN in output 0 of eagerly-executing op "RealDiv" (# of outputs: 1) !!!', "realdiv"),
    ],
)
def test_the_operation_without_a_finite_result(tmp_path: Path, line: str, operation: str) -> None:
    """NumPy, PyTorch and TensorFlow name it; the losses up to the first NaN are counted."""
    values = [f"step {i} loss {2 - i / 100:.3f}\n" for i in range(30)]
    rest = "".join(f"step {i} loss nan\n" for i in range(30, 40))
    (tmp_path / "job.log").write_text("".join(values[:26]) + line + "\n" + "".join(values[26:]) + rest)
    found = la.diagnose(tmp_path / "job.log").features

    assert found.values["range_warning_operation"] == operation
    assert found.values["range_warning_losses_later"] == 4
    assert found.witnesses["range_warning_operation"].line == 27


def test_a_line_that_names_no_operation_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("step 1 loss 2.0\nGradient for dense is NaN : Tensor had NaN values\n")

    assert la.diagnose(tmp_path / "job.log").features.values["range_warning_count"] == 0


@pytest.mark.parametrize(
    ("line", "feature", "expected"),
    [
        ("WARNING: optimizer state not found, starting fresh", "optimizer_state_lost_count", 1),
        ("no optimizer state in the checkpoint", "optimizer_state_lost_count", 1),
        ("could not load optimizer state from checkpoint-1000", "optimizer_state_lost_count", 1),
        ("loaded optimizer state", "optimizer_state_lost_count", 0),
        ("missing keys: 96, unexpected keys: 96", "weights_left_out_count", 1),
        ("missing keys: 2, unexpected keys: 0", "weights_left_out_count", 0),
        ("train set: 4,096 samples, not shuffled", "unshuffled_line_count", 1),
        ("train loader: batch_size=64 shuffle=False", "unshuffled_line_count", 1),
        ("val loader: batch_size=64 shuffle=False", "unshuffled_line_count", 0),
        (
            "Token indices sequence length is longer than the specified maximum sequence length for this model (9 > 8)",
            "inputs_too_long_most",
            8,
        ),
    ],
)
def test_words_that_name_a_cause(tmp_path: Path, line: str, feature: str, expected: int) -> None:
    (tmp_path / "job.log").write_text(f"{line}\nstep 1 loss 2.0\nstep 2 loss 1.9\n")

    assert la.diagnose(tmp_path / "job.log").features.values[feature] == expected
