"""The progress of a long command is shown on a terminal's stderr, and nowhere else."""

import sys

import pytest

from loganalyst.progressbar import Bar
from loganalyst.store import Outcome


def test_a_terminal_sees_the_rate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that is written over, and gone at the end."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = Bar()
    bar.show(1200, 3_000_000)
    bar.clear()
    err = capsys.readouterr().err

    assert "1,200 runs, 3,000,000 points, " in err
    assert err.endswith("\r\033[K")
    assert "\n" not in err


def test_a_pipe_sees_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """No bar where stderr is no terminal."""
    bar = Bar()
    bar.show(1, 1)
    bar.clear()

    assert capsys.readouterr().err == ""


def test_each_stage_counts_for_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs that were read, then judged of a total, then reports that were written."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = Bar()
    bar.outcome(Outcome("/r/1", "read", points=20), None)
    bar.outcome(Outcome("/r/1", "judged"), 7)
    for _ in range(2):
        bar.outcome(Outcome("/r/1", "reported"), None)
    read, judged, *reported = capsys.readouterr().err.split("\r\033[K")[1:]

    assert read.startswith("1 runs, 20 points, ")
    assert judged.startswith("judged 1 of 7 runs, ")
    assert reported == ["1 reports written", "2 reports written"]
