"""How far a long command is stands on a terminal's stderr, and nowhere else."""

import sys

import pytest

from loganalyst.progress import Bar


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
