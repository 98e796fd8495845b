"""What the documents say is so."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "fixtures/README.md"]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_readme_opens_with_two_commands() -> None:
    """The first two sh blocks are one command line each: install and diagnose, install and test."""
    first, second = blocks(ROOT / "README.md", "sh")[:2]

    assert first.count("\n") == second.count("\n") == 1
    assert "loganalyst diagnose fixtures/runs/nan-lr --exit-zero" in first
    assert second.strip().endswith("-m pytest -n auto --dist loadfile")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the checkout."""
    links = [t.split("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in t]

    assert [t for t in links if t and not (page.parent / t).exists()] == []


def test_the_readme_examples_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python shown in the README works as shown, where `fixtures` lies as in a checkout."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    for block in blocks(ROOT / "README.md", "python"):
        exec(compile(block, "README.md", "exec"), {})

    assert capsys.readouterr().out.startswith("diagnosis_complete lr_too_high 0.")


def test_the_readme_settings_are_valid(tmp_path: Path) -> None:
    """The corrections shown in the README are accepted."""
    from loganalyst.settings import find

    (tmp_path / "loganalyst.yaml").write_text(blocks(ROOT / "README.md", "yaml")[0])
    (tmp_path / "run").mkdir()

    assert find(tmp_path / "run").ignore[0].rule == "loss-spikes"
