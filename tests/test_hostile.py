"""Names, lines and settings made to mislead: reports stay inert text, JSON stays valid, the run stays untouched."""

import json
import os
import unicodedata
from pathlib import Path

import jsonschema
import pytest

import loganalyst as la
from loganalyst.report.diagnosis.schema import schema
from loganalyst.report.show import render as show

NAMES = [
    "\x1b[31mred\x1b]0;title\x07",
    "[bold]x[/bold][link=http://a]y[/link]",
    "<script>alert(1)</script>",
    "![a](http://e/x.png)",
    "a|b|c",
    "x\ny",
    "\u202egnp.exe",
    "\u009b31m",
    "a\x00b",
    "=cmd|'/c calc'!A1",
    "'; DROP TABLE features; --",
    '"quoted"',
    "{placeholder}",
    "%s%n",
    "\ud800",
    "N" * 100_000,
]
LOG = (
    "epoch 1 loss 0.5\n\x1b[2JRuntimeError: \x1b]0;pwn\x07[bold]CUDA out of memory[/bold] <img src=x> \u202e\u009b31m\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose metrics, settings and log say evil things; the first line of its table is 100 kB long."""
    run = tmp_path_factory.mktemp("hostile")
    rows = [
        {"step": i, **{f"{name}_loss": 1 / (i + 1) if i < 40 else float("nan") for name in NAMES}} for i in range(60)
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run / "config.yaml").write_text(json.dumps({name[:99]: name[:99] for name in NAMES if name != "\ud800"}))
    (run / "train.log").write_text(LOG)
    return run


@pytest.fixture(scope="module")
def diagnosis(folder):
    return la.diagnose(folder)


def hidden(text: str) -> set[str]:
    """The characters of a text that a terminal would act on, or that nobody sees."""
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"}} - {"\n"}


def test_everything_was_read(diagnosis):
    """All names are metrics, and the cause in the log is found."""
    assert len(diagnosis.run.points["metric"].unique()) >= len(NAMES)
    assert "cuda_oom" in [cause.label for cause in diagnosis.causes]


def test_reports_hold_visible_characters_only(diagnosis):
    """No report carries a control, an escape or a mark that turns text around."""
    from loganalyst.report.diagnosis import markdown, terminal

    reports = [terminal.render(diagnosis), markdown.render(diagnosis), show(diagnosis)]
    assert [hidden(report) for report in reports] == [set(), set(), set()]


def test_markdown_opens_no_tag_and_no_link(diagnosis):
    """Markup of others is escaped in all that is no code block."""
    from loganalyst.report.diagnosis import markdown

    prose = [line for line in markdown.render(diagnosis).splitlines() if not line.startswith("    ")]
    assert any("<img" in line for line in prose)
    assert not [line for line in prose if "<img" in line.replace("\\<img", "")]
    assert not [line for line in prose if "](" in line.replace("\\](", "")]


def test_json_is_valid_and_unicode(diagnosis):
    """It fits the schema and holds no half surrogate pair, which other readers refuse."""
    from loganalyst.report.diagnosis.asjson import render

    data = json.loads(render(diagnosis))

    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(data)) == []
    assert not [c for c in json.dumps(data, ensure_ascii=False) if "\ud800" <= c <= "\udfff"]


def test_nothing_is_written_into_a_run(folder, diagnosis):
    """Reading and diagnosing leaves names, sizes and times as they were."""
    assert diagnosis.status

    def state() -> list[tuple[str, int, int]]:
        return sorted((f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in [folder, *Path(folder).iterdir()])

    before = state()
    la.diagnose(folder)
    assert state() == before
    assert sorted(os.listdir(folder)) == ["config.yaml", "metrics.jsonl", "train.log"]
