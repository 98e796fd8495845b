"""Markdown, JSON and SARIF as recorded: `UPDATE_GOLDEN=1 pytest tests/report` writes them anew; read the difference."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from loganalyst import __version__
from loganalyst.model import Diagnosis
from loganalyst.report.diagnosis import asjson, markdown, sarif

GOLDEN = Path(__file__).parent / "golden"
STATES = ["failed", "healthy", "unknown_cause", "too_little", "unreadable", "crashed"]


def as_sarif(d: Diagnosis) -> str:
    """The SARIF of a run below /w, so that the folder of the tests does not matter."""
    found = replace(d, run=replace(d.run, path=Path("/w") / d.run.path))
    return sarif.render([found], Path("/w")).replace(f'"{__version__}"', '"VERSION"')


RENDERERS = {"md": markdown.render, "json": lambda d: asjson.render(d) + "\n", "sarif": as_sarif}


@pytest.mark.parametrize("form", RENDERERS)
@pytest.mark.parametrize("state", STATES)
def test_a_report_is_as_recorded(state, form, request):
    """Every status in every form whose look no other test pins (test_terminal and html/test_page do that)."""
    text = RENDERERS[form](request.getfixturevalue(state))
    file = GOLDEN / f"{state}.{form}"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")

    assert file.read_text(encoding="utf-8") == text
