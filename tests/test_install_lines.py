"""Nothing we write sends a user to a stranger's package: an install line names a checkout, a wheel, or a known tool."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
# `pip install -q '.[test]' && …`: the words behind the command, up to what ends a shell command or a piece of prose
INSTALL = re.compile(
    r"\b(?:pip3?|pipx|uv|uv tool|conda|mamba|poetry|pdm) (?:install|inject|add|download)\b([^\n`;&|()]*)"
    r"|\b(?:uvx|pipx run|uv tool run|uv run --with) ([^\n`;&|()]*)"
)
# Of ours: `.`, `.[replay]`, `/path/to/checkout[replay]`, `dist/x.whl`. PACKAGE stands for a name the reader knows
OURS = re.compile(
    r"(?:\.|/path/to/checkout)(?:\[[a-z]+(?:,[a-z]+)*\])?|dist/\S+\.whl|fixtures/\S+/requirements\.txt|PACKAGE"
)
TOOLS = {"build", "pip", "pre-commit", "twine"}  # of the workflows, of .ci/run and of CONTRIBUTING.md
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "fixtures").rglob("*.md")),
    *sorted(p for p in (ROOT / ".github").rglob("*") if p.is_file()),
    ROOT / ".pre-commit-config.yaml",
    ROOT / ".ci" / "run",
]


def strangers(text: str) -> list[str]:
    """What the install lines of a text name that is neither ours nor a known tool."""
    found = [word for words in INSTALL.findall(text) for word in named("".join(words))]
    extras = re.findall(r"\bloganalyst(?:-ml)?\[\w*", text)  # `loganalyst[mcp]`: an extra of the stranger's package
    return [word for word in found if not OURS.fullmatch(word) and word not in TOOLS] + extras


def named(words: str) -> list[str]:
    """The requirements among the words behind `install`, without options."""
    try:
        split = shlex.split(words, comments=True)
    except ValueError:  # an apostrophe of prose
        split = words.split()
    return [word for word in split if not word.startswith("-")]


def constants(tree: ast.AST) -> Iterator[str]:
    """Every string of a module; the values inside an f-string are written as `x`."""
    if isinstance(tree, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in tree.values)
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    else:
        for node in ast.iter_child_nodes(tree):
            yield from constants(node)


def told(value: Any) -> Iterator[str]:
    """What a rule file tells people: all its texts, but not the lines of logs in its tests."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from told(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from () if key == "tests" else told(item)


def test_no_page_installs_something_of_strangers() -> None:
    found = {page.relative_to(ROOT).as_posix(): strangers(page.read_text(encoding="utf-8")) for page in PAGES}

    assert len(found) > 50
    assert {page: names for page, names in found.items() if names} == {}


def test_no_text_of_the_package_installs_something_of_strangers() -> None:
    """Error texts and docstrings."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "loganalyst").rglob("*.py")}
    found = {file: [name for text in constants(tree) for name in strangers(text)] for file, tree in trees.items()}

    assert len(found) > 700
    assert {str(file): names for file, names in found.items() if names} == {}


def test_no_rule_tells_to_install_something_of_strangers() -> None:
    """Fixes and explanations; what a log said stands in tests and may name anything."""
    found = {
        file: [stranger for text in told(_loaded(file)) for stranger in strangers(text)]
        for file in (ROOT / "rules").rglob("*.yaml")
    }

    assert {file: names for file, names in found.items() if names} == {}


def _loaded(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pip install loganalyst", ["loganalyst"]),
        ("python -m pip install -U 'loganalyst[mcp]'", ["loganalyst[mcp]", "loganalyst[mcp"]),
        ("run `uv add loganalyst`, then go on", ["loganalyst"]),
        ("pip3 install . loganalyst-m1 && loganalyst --help", ["loganalyst-m1"]),
        ("uvx loganalyst diagnose x", ["loganalyst", "diagnose", "x"]),
        ("needs the extra loganalyst[replay]", ["loganalyst[replay"]),
        (".venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest", []),
        ("`pip install '/path/to/checkout[replay]'` installs it", []),
        ("pip install dist/loganalyst_ml-0.2.0-py3-none-any.whl", []),
        ("what pip installed last", []),
    ],
)
def test_strangers_are_found(line: str, found: list[str]) -> None:
    """What these tests look for, in lines that have it and lines that do not."""
    assert strangers(line) == found
