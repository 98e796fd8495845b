"""The limits of blame are read from the rules, and a file that is not as it must be is refused."""

from pathlib import Path

import pytest

from loganalyst import rulefiles
from loganalyst.blame import limits
from loganalyst.errors import RuleError

SOUND = "survived_after: {value: 3, unit: lines, meaning: so many}\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of limits, in a folder of rules of its own."""
    monkeypatch.setattr(rulefiles, "rules_dir", lambda: tmp_path)
    limits._limits.cache_clear()
    yield tmp_path / "blame.yaml"
    limits._limits.cache_clear()


def test_a_limit_is_what_the_file_says(rules: Path) -> None:
    """Not a number of the program's."""
    rules.write_text(SOUND)

    assert limits.limit("survived_after") == 3


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "true", "many"])
def test_a_limit_is_a_positive_whole_number(rules: Path, value: str) -> None:
    """Else the file is refused, with the line."""
    rules.write_text(SOUND.replace("3", value))

    with pytest.raises(RuleError, match=r"blame\.yaml:1.*not a positive whole number"):
        limits.limit("survived_after")


def test_a_limit_has_its_meaning(rules: Path) -> None:
    """One without is refused."""
    rules.write_text("survived_after: {value: 3, unit: lines}\n")

    with pytest.raises(RuleError, match="missing meaning"):
        limits.limit("survived_after")
