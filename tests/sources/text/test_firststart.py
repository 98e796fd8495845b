"""What a program prints at its start, once more."""

from pathlib import Path

import pytest

from tests.sources.text.startlogs import STEPS, TRACE, read, started

MORE = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(40, 80))
SET_UP = "Loading config base.yaml\nUsing device cuda:0\nDataset: 81234 samples\n"


@pytest.mark.parametrize("before", ["", "node gpu07 at 10:00:01\nmodules: cuda/12.1\n"])
def test_set_up_lines_that_come_again_behind_a_failure_are_a_start(log: Path, before: str) -> None:
    """A shell loop starts the program again without a word."""
    tables = read(log, before + 2 * (SET_UP + STEPS + TRACE))

    assert started(tables) == [1, before.count("\n") + 48]
    assert tables.sessions["status"].to_list() == ["failed", "failed"]


def test_set_up_lines_behind_training_are_no_start(log: Path) -> None:
    """The program went on behind the failure, and then printed them for its evaluation."""
    assert started(read(log, "node gpu07\n" + SET_UP + STEPS + TRACE + MORE + SET_UP + MORE)) == [1]


def test_a_bar_drawn_once_more_when_it_is_closed(log: Path) -> None:
    """A bar at the beginning of a log is no banner."""
    tables = read(log, "\r0it [00:00, ?it/s]\nValueError: boom\n" + "\n" * 60 + "\r0it [00:00, ?it/s]\nbye\n")

    assert started(tables) == [1]
    assert tables.sessions["status"].to_list() == ["failed"]
