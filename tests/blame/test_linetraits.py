"""Traits of patterns as expressions."""

import pytest

from loganalyst.blame.linetraits import has_trait
from tests.blame.blamelines import pattern, rows


def test_lines_of_patterns_with_the_trait_are_true() -> None:
    """Others are false; an unknown trait is an error."""
    lines = rows({"pattern": pattern("rank_count")}, {"pattern": pattern("killed")})

    assert lines.select(has_trait("rank_count")).to_series().to_list() == [True, False]
    with pytest.raises(KeyError):
        has_trait("rank_cuont")
