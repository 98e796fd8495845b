"""Making the compiled catalogue: whole or not at all, and never an error where it cannot be kept."""

from pathlib import Path

import pytest

from loganalyst import rulefiles
from loganalyst.errors import RuleError
from loganalyst.rulefiles import compiling
from loganalyst.rulefiles.compiling import keep_compiled, write_compiled


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "one.yaml").write_text("a: 1\n")
    for module in ("compiling", "compiledfile"):
        monkeypatch.setattr(f"loganalyst.rulefiles.{module}.rules_dir", lambda: folder)
    return folder


def test_faulty_yaml_is_not_compiled(rules: Path, tmp_path: Path) -> None:
    """The error names the line; an old file stays. Where it is only kept, nothing happens."""
    (tmp_path / "made").write_text("old")
    (rules / "one.yaml").write_text("a: 1\na: 2\n")

    with pytest.raises(RuleError, match=r"one\.yaml:2: key 'a' stands twice"):
        write_compiled(tmp_path / "made", lambda: b"\xc0")
    keep_compiled(tmp_path / "made", lambda: b"\xc0")
    assert (tmp_path / "made").read_text() == "old"


def test_sources_that_change_meanwhile_are_not_compiled(rules: Path, tmp_path: Path) -> None:
    """The file would hold the old data under the stamp of the new."""

    def edit() -> bytes:
        (rules / "one.yaml").write_text("a: 2\n")
        return b"\xc0"

    with pytest.raises(RuleError, match="changes while it is compiled"):
        write_compiled(tmp_path / "made", edit)
    assert not (tmp_path / "made").exists()


def test_a_place_that_cannot_be_written_is_no_error(rules: Path, tmp_path: Path) -> None:
    """A file in place of the folder; nothing is compiled for it."""
    (tmp_path / "file").write_text("")

    keep_compiled(tmp_path / "file" / "made", lambda: pytest.fail("compiled for nothing"))


def test_a_read_only_folder_is_not_tried(rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everywhere, so the system's answer is given."""
    monkeypatch.setattr(compiling.os, "access", lambda path, how: False)

    keep_compiled(tmp_path / "made", lambda: pytest.fail("compiled for nothing"))
    assert not (tmp_path / "made").exists()


def test_all_of_our_yaml_can_be_compiled() -> None:
    """No file of ours has to be parsed at each start."""
    found = compiling._files()

    assert found.keys() == {p.relative_to(rulefiles.rules_dir()).as_posix() for p in _all()}


def _all() -> list[Path]:
    return rulefiles.yaml_files(rulefiles.rules_dir())
