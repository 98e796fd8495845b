"""Thresholds are read from the rules, and a file that is not as it must be is refused."""

from pathlib import Path

import pytest

from loganalyst import rulefiles, thresholds
from loganalyst.errors import RuleError
from loganalyst.thresholds import blame_limit, checkpoint_limit, feature_limit, threshold

SOUND = "survived_after: {value: 3, unit: lines, meaning: so many}\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of thresholds, in a folder of rules of its own."""
    monkeypatch.setattr(rulefiles, "rules_dir", lambda: tmp_path)
    thresholds._values.cache_clear()
    yield tmp_path / "blame.yaml"
    thresholds._values.cache_clear()


def test_ours_are_as_the_files_say():
    """One of each file."""
    assert (blame_limit("flushed"), checkpoint_limit("reset"), feature_limit("expert_idle")) == (150.0, 0.3, 0.1)


def test_a_threshold_is_what_the_file_says(rules: Path) -> None:
    """Not a number of the program's."""
    rules.write_text(SOUND)

    assert blame_limit("survived_after") == 3


@pytest.mark.parametrize("value", ["0", "-1", "true", "many", ".nan"])
def test_a_threshold_is_a_number_above_0(rules: Path, value: str) -> None:
    """Else the file is refused, with the line."""
    rules.write_text(SOUND.replace("3", value))

    with pytest.raises(RuleError, match=r"blame\.yaml:1.*a number above 0"):
        blame_limit("survived_after")


def test_a_threshold_has_its_meaning(rules: Path) -> None:
    """One without is refused."""
    rules.write_text("survived_after: {value: 3, unit: lines}\n")

    with pytest.raises(RuleError, match="missing meaning"):
        blame_limit("survived_after")


def test_a_name_that_the_file_lacks_is_refused_with_the_nearest(rules: Path) -> None:
    """A misspelt name must not go unnoticed."""
    rules.write_text(SOUND)

    with pytest.raises(RuleError, match="survived_after"):
        threshold("blame", "survived_aftr")
