"""docs/verify.md shows what the commands print, and its query and its Python run."""

import re
from pathlib import Path

import pytest

import loganalyst as la
from loganalyst import query
from loganalyst.report.diagnosis import terminal
from loganalyst.report.verification import screen

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "fixtures/runs"
PAGE = (ROOT / "docs/verify.md").read_text(encoding="utf-8")
OLD, NEW = RUNS / "divergence-lr", RUNS / "healthy-mended-rate"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_baseline_shown_is_what_is_printed():
    """All lines but the last, which is cut."""
    shown = blocks("text")[0].splitlines()[:-1]

    assert "\n".join(shown) in terminal.render(la.diagnose(OLD, baseline=NEW))


def test_the_verdict_shown_is_what_is_printed():
    assert blocks("text")[1] == screen.render(la.verify(OLD, NEW))


def test_the_python_shown_says_what_the_comment_tells(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    code, _, told = blocks("python")[0].rpartition("  # ")
    lines = code.splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines[:-1]), names)

    assert eval(lines[-1], names) == eval(told)


def test_the_query_shown_counts_the_hits(tmp_path):
    store = la.Store(tmp_path)
    store.ingest([RUNS / "cuda-oom"])
    la.confirm(RUNS / "cuda-oom", "cuda-out-of-memory", store=store)

    assert query.ask(store, blocks("sql")[0]).rows() == [(True, 1)]


def test_the_constants_told_are_those_in_force():
    """The page and rules/changes.yaml agree."""
    from loganalyst.baseline import kinds

    failed = kinds().failed
    assert (failed.count, failed.different, failed.same, kinds().too_many) == (3, -2.2, -0.7, 8)
    assert "lower the log-odds by 2.2. The same fix three times lowers them by only 0.7" in PAGE
    assert "eight changes or more" in PAGE
