"""Programs that went on behind exceptions that they printed."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.text import reader

CAUGHT = 'Traceback (most recent call last):\n  File "a.py", line 4, in one\n    two()\nValueError: empty answer\n'
LIBRARY = (
    'Traceback (most recent call last):\n  File "/v/site-packages/fast/__init__.py", line 4, in <module>\n'
    "    from . import _C\nImportError: libfast.so: cannot open shared object file\n"
)
OTHER = 'Traceback (most recent call last):\n  File "/tmp/s.py", line 4, in <module>\n    f()\nIndexError: list\n'


def work(first: int, last: int) -> str:
    return "".join(f"video {n} ok ({n + 30} frames)\n" for n in range(first, last))


def records(first: int, last: int) -> str:
    return "".join(f"2026-02-02 10:00:{n:02d},100 INFO problem {n}: passed\n" for n in range(first, last))


def training(first: int, last: int) -> str:
    return "".join(f"2026-02-02 10:00:{n:02d},100 INFO fit: step {n} loss {9 / n:.4f}\n" for n in range(first, last))


def status(folder: Path, log: str) -> str:
    path = folder / "run.log"
    path.write_text(log)
    return Tables.concat(reader.read(path)).sessions["status"][0]


@pytest.mark.parametrize(
    "log",
    [
        work(1, 9) + CAUGHT + work(10, 14),
        "loading\n" + CAUGHT + "test accuracy: 0.8134\n",
        LIBRARY + "scoring\ncora\nciteseer\npubmed\n",
        records(1, 9) + OTHER + records(10, 20),
        training(1, 9) + OTHER + training(9, 20) + OTHER + training(20, 30) + OTHER + training(30, 40),
    ],
)
def test_work_behind_an_exception(tmp_path: Path, log: str) -> None:
    """Lines of the same kind as before, results, and any lines behind an import that a library caught. A script that
    prints the same exception from its top for the third time did not die of it.
    """
    assert status(tmp_path, log) == "unknown"
    assert pipeline.diagnose_paths([tmp_path / "run.log"])[0].status in ("healthy", "insufficient_data")


@pytest.mark.parametrize(
    "log",
    [
        work(1, 9) + CAUGHT,
        work(1, 9) + CAUGHT + "closing the tracker\nfreeing 4 workers\nbye now\n",
        work(1, 9) + CAUGHT + work(10, 14) + "ERROR: giving up\n",
        work(1, 9) + OTHER + work(10, 14),
        records(1, 9) + OTHER + records(10, 15),
        training(1, 9) + OTHER + training(9, 40),
        LIBRARY,
        "step 1 loss 0.5\nstep 2 loss 0.4\n" + CAUGHT + "best accuracy: 0.8134\n",
    ],
)
def test_what_shows_no_work(tmp_path: Path, log: str) -> None:
    """A program that tidies up, one that complains again, output that waited in a buffer, records that may be another
    rank's, and results of a training.
    """
    assert status(tmp_path, log) == "failed"


def test_the_line_that_shows_it(tmp_path: Path) -> None:
    """It is the last line of that work."""
    path = tmp_path / "run.log"
    path.write_text(work(1, 9) + CAUGHT + work(10, 14) + "bye\n")
    lines = Tables.concat(reader.read(path)).lines.filter(pl.col("pattern") == "went-on")
    assert lines.select("line", "part").rows() == [(16, "work")]
