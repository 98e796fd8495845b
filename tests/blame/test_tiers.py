"""Tiers of blame, by their names."""

from pathlib import Path

import pytest

from loganalyst.blame.tiers import tier
from loganalyst.errors import RuleError


def test_the_order_of_the_file_is_the_order_of_blame(tmp_path: Path) -> None:
    """The first entry is 0."""
    (tmp_path / "tiers.yaml").write_text("- {tier: b, meaning: x}\n- {tier: a, meaning: y}\n")

    assert (tier("b", tmp_path), tier("a", tmp_path)) == (0, 1)
    assert tier("own_fault") < tier("failed_exit") < tier("terminated")
    with pytest.raises(KeyError):
        tier("c", tmp_path)


def test_a_tier_has_a_meaning(tmp_path: Path) -> None:
    """Another file is refused with its line."""
    (tmp_path / "tiers.yaml").write_text("- {tier: b, meaning: x}\n- {tier: a}\n")

    with pytest.raises(RuleError, match=r"tiers\.yaml:2: missing meaning; required are tier, meaning"):
        tier("b", tmp_path)
