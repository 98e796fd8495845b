"""Notes in every report: what was found, and what to do about it."""

from dataclasses import replace

import jsonschema
import pytest

from loganalyst.model import Diagnosis, Note, Run
from loganalyst.report.diagnosis import asjson, markdown, terminal
from loganalyst.report.diagnosis.schema import schema

NOTE = Note("time-over-asked", "Too much time", "the job ran for 00:01:06\x1b of 08:00:00", "ask for *less* (--time)")
HEALTHY = Diagnosis(run=Run(name="job"), status="healthy", confidence=0.8, notes=(NOTE,))


@pytest.mark.parametrize("status", ["healthy", "cause_unknown"])
def test_the_terminal_shows_it_in_one_line(status):
    """Under the diagnosis, healthy or not; control characters are gone."""
    shown = terminal.render(replace(HEALTHY, status=status))

    assert "Note       the job ran for 00:01:06 of 08:00:00 · ask for *less* (--time)" in shown


def test_markdown_has_a_table_of_them():
    """With signs of its own escaped."""
    assert "## Worth knowing" in markdown.render(HEALTHY)
    assert "| the job ran for 00:01:06 of 08:00:00 | ask for \\*less\\* (--time) |" in markdown.render(HEALTHY)


def test_json_has_them_as_they_are():
    """By the schema."""
    data = asjson.data(HEALTHY)

    jsonschema.validate(data["notes"], schema()["properties"]["notes"])
    assert data["notes"] == [
        {"id": "time-over-asked", "title": "Too much time", "text": NOTE.text, "change": NOTE.change}
    ]


def test_without_notes_nothing_is_said():
    """No heading for nothing."""
    plain = replace(HEALTHY, notes=())

    assert "Note" not in terminal.render(plain)
    assert "Worth knowing" not in markdown.render(plain)
    assert asjson.data(plain)["notes"] == []
