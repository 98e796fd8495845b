"""Names of the columns that say what a row is about."""

from loganalyst.sources.tables.columnwords import column_words
from loganalyst.sources.tables.stepcolumns import AXES, normalised


def test_names_are_spelt_as_they_are_looked_for() -> None:
    """Others would never be found."""
    words = column_words()
    names = (*AXES, *words.step_ends, *words.parts, *words.kinds, *words.names, *words.names_of_values)

    assert [name for name in names if name != normalised(name)] == []


def test_no_column_counts_and_tells_the_time() -> None:
    words = column_words()

    assert {*words.steps, *words.epochs}.isdisjoint(words.times)
