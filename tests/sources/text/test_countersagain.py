"""Training that counts from its first step again."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.countersagain import counters

FAULT = "RuntimeError: CUDA error: misaligned address\n"


def starts(path: Path, text: str) -> list[int]:
    """The first lines of the starts in a log."""
    path.write_text(text)
    return Tables.concat(reader.read(path)).sessions["first_line"].to_list()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("step 0 | loss 2.31", [[0]]),
        ("Epoch [1][10/200] loss 0.5", [[1, 10, 200]]),
        ('{"step": 20, "loss": 2.3}', [[20]]),
        (" iteration       10/     600 | lm loss: 2.3", [[10, 600]]),
        ("global_step=7 loss=0.5", [[7]]),
        ("loss 0.5 after 3 s", []),
        ("stepping 3 loss 0.5", []),
    ],
)
def test_counters(text: str, found: list[list[int]]) -> None:
    """Counters are the numbers behind the names of steps and epochs."""
    assert counters(text) == found


def test_each_return_to_the_first_step_behind_a_failure_is_a_start(tmp_path: Path) -> None:
    """A shell loop tries a program again; the start begins behind the last word of the one before."""
    steps = "".join(f"step {n} loss 0.{9 - n}\n" for n in range(5))
    text = (steps + FAULT + "Aborted (core dumped)\nexit code 134, again\n") * 3

    assert starts(tmp_path / "loop.log", text) == [1, 8, 16]


def test_counters_that_return_in_the_ordinary_course_start_nothing(tmp_path: Path) -> None:
    """Steps are counted within each epoch, and no start failed."""
    epochs = "".join(f"Epoch {e} step {n} loss 0.{9 - n}\n" for e in range(3) for n in range(5))

    assert starts(tmp_path / "epochs.log", epochs + FAULT) == [1]
    assert starts(tmp_path / "bare.log", "".join(f"step {n} loss 0.{9 - n}\n" for n in [*range(5)] * 3)) == [1]


def test_the_first_step_of_a_second_rank_starts_nothing(tmp_path: Path) -> None:
    """Ranks print the same step one after another."""
    assert starts(tmp_path / "ranks.log", "step 0 loss 0.9\n" + FAULT + "step 0 loss 0.8\nstep 1 loss 0.7\n") == [1]
