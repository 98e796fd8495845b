"""What a log says last, where no pattern knows it: one line is told, with its place."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources import text


def told(folder: Path, log: str) -> list[tuple[int, str]]:
    """Line and text of the last words."""
    path = folder / "train.log"
    path.write_text(log)
    rows = Tables.concat(text.read(path)).lines.filter(pattern="last-words")
    assert set(rows["part"]) <= {"confirm"}
    return list(rows.select("line", "text").iter_rows())


@pytest.mark.parametrize(
    "words",
    [
        "launcher: fatal error: the quux daemon has gone",
        "[2024-05-01 10:00:00] CRITICAL: quux is not reachable",
        "26/01/02 03:04:05 ERROR QuuxScheduler: Lost the quux daemon",
        "2026-01-02T03:04:05Z ERROR 77 [quux.driver.Commands]:  The quux daemon has gone",
        "Unable to start the quux daemon",
        "quux.cpp:12] Aborting the job",
        "the quux daemon terminated unexpectedly",
        "Child process unexpectedly failed with code 9",
    ],
)
def test_errors_that_no_pattern_knows(tmp_path: Path, words: str) -> None:
    """The first of the last five lines that tells of an error; blank lines are none of them."""
    assert told(tmp_path, f"start\n{words}\n\nbye\n") == [(2, words)]
    assert told(tmp_path, f"start\n{words}\n" + 5 * "bye\n") == []


@pytest.mark.parametrize(
    "words",
    [
        "step 5 error: 0.25",
        "finished with 0 errors: all good",
        "WARNING: error: retry in 5 s",
        "the error bars: none",
        "ERROR 3 of 40 files: 0",
        "done",
    ],
)
def test_words_that_tell_of_no_error(tmp_path: Path, words: str) -> None:
    """Numbers called errors, and what is retried, are none."""
    assert told(tmp_path, f"start\n{words}\n") == []


def test_what_a_pattern_knows_is_not_told_twice(tmp_path: Path) -> None:
    """Where one of the last lines is claimed, that one is the fault."""
    assert told(tmp_path, "start\nfatal error: x has gone\nRuntimeError: CUDA out of memory.\n") == []


def test_when_the_work_is_done_nothing_is_told(tmp_path: Path) -> None:
    """After the end of the training its last words are no cause."""
    assert told(tmp_path, "Training completed.\nfatal error: quux has gone\n") == []


def test_short_files(tmp_path: Path) -> None:
    """Without an end of the line, and with nothing at all."""
    assert told(tmp_path, "fatal error: quux has gone") == [(1, "fatal error: quux has gone")]
    assert told(tmp_path, "\n\n") == []
