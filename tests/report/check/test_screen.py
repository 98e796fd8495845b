"""Checked settings on a terminal."""

import json
import re
from pathlib import Path

import loganalyst as la
from loganalyst.report.check.screen import render, render_json

PAGE = (Path(__file__).parents[3] / "docs/check.md").read_text(encoding="utf-8")


def checked(tmp_path, monkeypatch):
    """The config of the page."""
    (tmp_path / "config.yaml").write_text(re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0])
    monkeypatch.chdir(tmp_path)
    return la.check("config.yaml")


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch):
    printed = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]

    assert render(checked(tmp_path, monkeypatch)) == printed


def test_no_line_is_longer_than_the_screen(tmp_path, monkeypatch):
    """Narrow, wide, and without Unicode. An address is not cut."""
    found = checked(tmp_path, monkeypatch)

    for width in (40, 72, 200):
        lines = render(found, width=width).splitlines()
        assert [line for line in lines if len(line) > max(width, 40) and "http" not in line] == []
    assert render(found, ascii_only=True).isascii()
    assert "\x1b[" in render(found, colour=True)


def test_json_is_an_object_with_its_schema(tmp_path, monkeypatch):
    data = json.loads(render_json(checked(tmp_path, monkeypatch)))

    assert (data["schema"], data["wrong"], data["settings"]) == ("loganalyst/check/1", True, 12)
