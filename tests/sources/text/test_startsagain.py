"""Short logs of programs that were started again after a failure."""

from pathlib import Path

import pytest

from loganalyst.blame.rootline import judged_session
from loganalyst.model import Tables
from loganalyst.pipeline import diagnose_paths
from loganalyst.sources.ingest import ingest
from loganalyst.sources.text import reader

SET_UP = "Tokenizing corpus with batch size {}\nmodel has 124.4M parameters\n"
STEPS = "".join(f"step {i * 50} loss {4 / i:.3f}\n" for i in range(1, 15))


def fault(line: int, error: str) -> str:
    return f'Traceback (most recent call last):\n  File "run.py", line {line}, in <module>\n    x()\n{error}\n'


OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (SET_UP.format(64) + fault(9, OOM) + SET_UP.format(16) + STEPS, [1, 7]),
        # every rank prints its set-up lines before one of them fails
        (2 * SET_UP.format(64) + fault(9, OOM) + SET_UP.format(64) + STEPS, [1]),
        (fault(9, OOM) + 2 * SET_UP.format(64) + STEPS, [1]),  # what precedes the error waited in a buffer
    ],
)
def test_set_up_lines_before_a_failure_and_behind_it(tmp_path: Path, text: str, starts: list[int]) -> None:
    path = tmp_path / "train.log"
    path.write_text(text)

    assert Tables.concat(reader.read(path)).sessions["first_line"].to_list() == starts


@pytest.mark.parametrize(
    ("second", "starts"),
    [
        (fault(5, "ModuleNotFoundError: No module named 'torch'"), [1, 19]),
        (fault(9, "KeyError: 'a'"), [1]),  # the same line of the script: perhaps another rank
    ],
)
def test_a_program_dies_once(tmp_path: Path, second: str, starts: list[int]) -> None:
    """Training lies between two exceptions that nothing caught."""
    path = tmp_path / "train.log"
    path.write_text(fault(9, "KeyError: 'a'") + STEPS + second)

    assert Tables.concat(reader.read(path)).sessions["first_line"].to_list() == starts


@pytest.mark.parametrize(("more", "judged"), [(1, 0), (7, 1)])
def test_a_start_that_got_farther_than_the_one_before_counts(tmp_path: Path, more: int, judged: int) -> None:
    """Even if no line of it says anything."""
    path = tmp_path / "train.log"
    lines = "".join(f"preparing part {'abcdefg'[i]} of the work\n" for i in range(more))
    path.write_text(SET_UP.format(64) + fault(9, "KeyError: 'a'") + SET_UP.format(64) + lines)

    assert judged_session(ingest(path)) == judged


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("STEP 7.1 ON n1 CANCELLED AT 2026-01-01T00:00:00", "finished"),
        ("JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00", "cancelled"),
    ],
)
def test_a_step_cancelled_behind_the_end(tmp_path: Path, text: str, status: str) -> None:
    """A monitor beside the training."""
    path = tmp_path / "slurm-7.out"
    path.write_text(f"{STEPS}Training complete in 3 h\nBest acc: 0.84\nslurmstepd: error: *** {text} ***\n")
    (found,) = diagnose_paths([path])

    assert found.run.status == status
    assert (found.status == "healthy") == (status == "finished")


COMMAND = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nImportError: no libcudart.so\n'


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (COMMAND + "installing\ncopying data\nW: slow disk\ncopied\n", "insufficient_data"),
        (COMMAND, "diagnosis_complete"),
        (COMMAND + fault(4, "ModuleNotFoundError: No module named 'jax'"), "diagnosis_complete"),
    ],
)
def test_a_command_of_the_job_script(tmp_path: Path, text: str, status: str) -> None:
    """`python -c "import torch"` only asks; the shell goes on."""
    path = tmp_path / "job.err"
    path.write_text(text)

    assert [found.status for found in diagnose_paths([path])] == [status]
