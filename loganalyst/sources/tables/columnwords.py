"""Names of the columns that say what a row is about (`rules/columns.yaml`)."""

from functools import cache

from loganalyst.rulefiles import Shape, Texts, ours


class ColumnWords(Shape, frozen=True):
    """The lists of the file, which says what each is. The order of a list is the priority."""

    steps: Texts
    step_ends: Texts
    epochs: Texts
    times: Texts
    parts: Texts
    kinds: Texts
    names: Texts
    names_of_values: Texts
    rows: Texts


@cache
def column_words() -> ColumnWords:
    """The file, read once. Raises RuleError.

    >>> column_words().steps[:2]
    ('step', 'steps')
    """
    return ours("columns.yaml", ColumnWords)
