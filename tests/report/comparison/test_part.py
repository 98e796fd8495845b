"""A section of a comparison."""

from loganalyst.report.comparison.part import Part


def test_empty_columns_are_not_filled() -> None:
    """A column counts if one of its rows has a text."""
    part = Part("Runs", ("run", "seed", "loss"), (("a", "", ""), ("b", "", "1.2")))

    assert part.filled == [0, 2]
