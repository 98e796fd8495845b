"""Thresholds are read from the rules; a file of another shape is refused."""

from pathlib import Path

import pytest

from loganalyst.errors import RuleError
from loganalyst.thresholds import blame_limit, checkpoint_limit, feature_limit, threshold

SOUND = "survived_after: {value: 3, unit: lines, meaning: lines with metrics}\n"


def test_each_file_of_ours_is_read():
    """The values of the files, not of the program."""
    assert (blame_limit("flushed"), checkpoint_limit("reset"), feature_limit("expert_idle")) == (150.0, 0.3, 0.1)


def test_a_threshold_is_what_the_file_says(tmp_path: Path) -> None:
    """A number of another folder replaces ours."""
    (tmp_path / "blame.yaml").write_text(SOUND)

    assert threshold("blame", "survived_after", tmp_path) == 3.0


@pytest.mark.parametrize("value", ["0", "-1", "true", "many", ".nan"])
def test_a_threshold_is_a_number_above_0(tmp_path: Path, value: str) -> None:
    """Anything else is refused, with the line."""
    (tmp_path / "blame.yaml").write_text(SOUND.replace("3", value))

    with pytest.raises(RuleError, match=r"blame\.yaml:1: value is .*; a number above 0"):
        threshold("blame", "survived_after", tmp_path)


def test_a_threshold_has_its_meaning(tmp_path: Path) -> None:
    """An entry without a meaning is refused."""
    (tmp_path / "blame.yaml").write_text("survived_after: {value: 3, unit: lines}\n")

    with pytest.raises(RuleError, match="missing meaning; required are value, unit, meaning"):
        threshold("blame", "survived_after", tmp_path)


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """A misspelt name must not go unnoticed."""
    (tmp_path / "blame.yaml").write_text(SOUND)

    with pytest.raises(RuleError, match="no threshold 'survived_aftr'; did you mean 'survived_after'"):
        threshold("blame", "survived_aftr", tmp_path)
