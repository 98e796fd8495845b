"""YAML files are loaded safely, with the place of every part."""

from pathlib import Path

import pytest

from loganalyst.errors import RuleError
from loganalyst.rulefiles.loading import RuleFile, load


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    return path


def test_data_and_lines(tmp_path: Path) -> None:
    """Plain data, and the line of each node; a node that is not there has its parent's."""
    file = load(write(tmp_path, "a: 1\nb:\n  - x\n  - {c: 2}\n"))

    assert file.data == {"a": 1, "b": ["x", {"c": 2}]}
    assert file.where("b", 1, "c").endswith("x.yaml:4")
    assert file.where("b", 1, "missing").endswith("x.yaml:4")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "x.yaml:2: key 'a' stands twice"),
        ("a: [\n", "x.yaml:2: not valid YAML"),
        ("a: &x [1]\nb: *x\n", r"x.yaml:\d: found an alias"),
        ("a: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
    ],
)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    """Duplicate keys, syntax errors, aliases and unsafe tags are refused with their line."""
    with pytest.raises(RuleError, match=message):
        load(write(tmp_path, text))


def test_nesting_is_bounded(tmp_path: Path) -> None:
    """40 levels are read, 41 are not."""
    assert load(write(tmp_path, "[" * 40 + "]" * 40)).where(*[0] * 39).endswith("x.yaml:1")

    with pytest.raises(RuleError, match=r"x\.yaml:1: nested too deeply; at most 40 levels"):
        load(write(tmp_path, "[" * 41 + "]" * 41))


def test_missing_file(tmp_path: Path) -> None:
    """A file that cannot be read is one clear error."""
    with pytest.raises(RuleError, match="cannot be read"):
        load(tmp_path / "missing.yaml")


def test_compiled_data_is_parsed_only_to_place_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a: 1\nb: 2")
    compiled = RuleFile(path, {"a": 1, "b": 2})
    asked: list[str] = []

    def refuse(where: str) -> int:
        asked.append(where)
        raise RuleError(where, "is wrong")

    monkeypatch.setattr(RuleFile, "where", lambda *_: pytest.fail("parsed"))
    assert compiled.checked(("b",), len) == len(str(path))
    monkeypatch.undo()
    with pytest.raises(RuleError, match=r"x\.yaml:2: is wrong"):
        compiled.checked(("b",), refuse)
    assert asked == [str(path), f"{path}:2"]
