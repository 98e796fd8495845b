"""A table that a program printed, with its other words: rows are metrics, words are a log."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.tables import csv_reader, csvwithtext

ROWS = "".join(f"{i},{2.5 - i / 64},{i / 64}\n" for i in range(40))
HEADER = "step,loss,acc\n"
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    main()\nKeyError: 7\n'
STOP = "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***\n"


def read(tmp_path: Path, text: str, name: str = "log.csv") -> Tables:
    (tmp_path / name).write_text(text)
    return Tables.concat(csv_reader.read(tmp_path / name))


@pytest.mark.parametrize("sep", [",", "\t", ";"])
@pytest.mark.parametrize(
    ("end", "pattern", "line", "status"),
    [(TRACE, "python-exception", 45, "failed"), (STOP, "slurm-time-limit", 42, "timeout")],
)
def test_the_words_behind_the_rows(tmp_path, sep, end, pattern, line, status):
    tables = read(tmp_path, (HEADER + ROWS).replace(",", sep) + end)
    loss = tables.points.filter(metric="loss", step=39)
    assert tables.lines.filter(pattern=pattern)["line"].to_list() == [line]
    assert tables.sessions["status"].to_list() == [status]
    assert (loss["value"].to_list(), loss["line"].to_list()) == ([2.5 - 39 / 64], [41])


def test_rows_behind_an_error_show_that_training_went_on(tmp_path):
    tables = read(tmp_path, HEADER + ROWS + TRACE + ROWS)
    assert tables.sessions["status"].to_list() == ["unknown"]


@pytest.mark.parametrize(
    "text", [HEADER + ROWS, HEADER + ROWS + "1,2\n", "# step is the epoch\n" + HEADER + ROWS + "\n"]
)
def test_rows_alone_are_no_log(tmp_path, text):
    tables = read(tmp_path, text)
    assert tables.sessions.height == tables.lines.height == 0


@pytest.mark.parametrize(("text", "expected"), [(TRACE, True), ("a b c\n", False), ("", False)])
def test_text_of_a_job_among_rows(tmp_path, text, expected):
    (tmp_path / "x.csv").write_text(HEADER + text + ROWS)
    assert csvwithtext.has_text(tmp_path / "x.csv", ",", 3) is expected
