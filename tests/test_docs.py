"""The documents are correct: links, paths, outputs and examples; and their sentences are short."""

import re
from pathlib import Path

import pytest

from tests.commandline import called

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "fixtures/README.md"]
PLAIN = [  # follow docs/style.md
    *sorted(ROOT.glob("*.md")),
    *(ROOT / f"docs/{name}.md" for name in ("benchmark", "cases", "how-it-works", "installing", "pythons", "style")),
]
CLAIM = r"More than (\d+) \[causes\].*? behind (\d+) symptoms and\s+(\d+) kinds of log lines"
MAX_WORDS = 25  # of a sentence


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_readme_opens_with_two_commands() -> None:
    """The first two sh blocks are one command line each: install and diagnose, install and test."""
    first, second = blocks(ROOT / "README.md", "sh")[:2]

    assert first.count("\n") == second.count("\n") == 1
    assert "loganalyst diagnose fixtures/runs/nan-lr --exit-zero" in first
    assert second.strip().endswith("-m pytest -n auto --dist loadfile")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the checkout, and an anchor of that page if it has one."""
    links = [t.partition("#") for t in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in t]
    pages = {(file, anchor): (page.parent / file).resolve() if file else page for file, _, anchor in links}

    assert [file for (file, _), found in pages.items() if not found.exists()] == []
    assert [f"{f}#{a}" for (f, a), found in pages.items() if a and a not in anchors(found)] == []


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    given = re.findall(r'<a id="([^"]+)">', text)
    return {*given, *(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)}


@pytest.mark.parametrize("page", PLAIN, ids=named)
def test_sentences_are_short(page: Path) -> None:
    """In prose, lists and cells of tables; code counts as one word."""
    assert [s for s in sentences(page.read_text()) if len(s.split()) > MAX_WORDS] == []


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown page, without code blocks and link targets."""
    text = re.sub(r"^```.*?^```$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "", text))
    ends = r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)|\||[.:;!?][)*\"]*\s"
    return [" ".join(part.split()) for part in re.split(ends, text)]


def test_the_readme_shows_what_the_first_command_prints() -> None:
    """The part of the output above the curves."""
    shown = blocks(ROOT / "README.md", "text")[0]
    printed = called("diagnose", "fixtures/runs/nan-lr", "--exit-zero", cwd=ROOT).out

    assert shown == printed[: printed.index("\n\n", printed.index("Check")) + 1]
    for word in ("FAILED", "Change", "Expect", "Check"):
        assert word in shown


def test_the_readme_shows_what_verify_prints() -> None:
    """Its first line."""
    printed = called("verify", "fixtures/runs/divergence-lr", "fixtures/runs/healthy-mended-rate", cwd=ROOT).out

    assert blocks(ROOT / "README.md", "text")[2] == printed.splitlines(keepends=True)[0]


def test_the_readme_claims_no_more_than_the_catalogue_has() -> None:
    """The numbers of causes, symptoms and kinds of log lines."""
    claimed = re.search(CLAIM, (ROOT / "README.md").read_text(), re.DOTALL)
    found = re.match(r"(\d+) rules, (\d+) symptoms and (\d+) patterns", called("rules", "check").out)

    assert claimed is not None
    assert found is not None
    assert [int(n) > int(c) for n, c in zip(found.groups(), claimed.groups(), strict=True)] == [True] * 3


def test_contributing_names_what_is_there() -> None:
    """Every path and every benchmark that CONTRIBUTING.md names."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = re.findall(r"\b(?:loganalyst|rules|tests|docs|fixtures)/[\w./-]+", re.sub(r"<[^>]*>", "x", text))
    modules = re.findall(r"python -m ((?:tests|fixtures|loganalyst)[\w.]*)", text)
    placeholders = {"rules/text/x.yaml", "rules/trainers/x.yaml", "tests/sources/text/trainer_logs/x.yaml"}
    files = [m.replace(".", "/") for m in modules]

    assert sorted({p.rstrip(".") for p in paths if not (ROOT / p.rstrip(".")).exists()} - placeholders) == []
    assert [f for f in files if not (ROOT / f"{f}.py").exists() and not (ROOT / f).is_dir()] == []


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
