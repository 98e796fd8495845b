"""The layouts of `rules/layouts.yaml`."""

import polars as pl
import pytest

from loganalyst.errors import RuleError
from loganalyst.sources.text.metrics import plainpairs
from loganalyst.sources.text.metrics.layoutfile import filled, layouts, wide_characters


def test_each_example_is_written_again_as_stated() -> None:
    """By its own layout, which is asked of a text with this line alone."""
    wrong = []
    for layout in layouts():
        (found,) = pl.DataFrame({"text": [layout.line]}).select(plainpairs._applied(layout, pl.col("text")))["text"]
        seen = plainpairs._may_occur(layout, layout.line.lower(), changed=False)
        if found != layout.becomes or not seen:
            wrong.append((layout.line, found))

    assert wrong == []
    assert len(layouts()) > 40


def test_texts_are_in_lower_case() -> None:
    """Lines are searched in lower case, so others would never be found."""
    assert all(text == text.lower() for layout in layouts() for text in layout.texts)


def test_a_part_that_the_file_does_not_have_is_refused() -> None:
    with pytest.raises(RuleError, match="no part 'valeu'"):
        filled("<valeu>")


def test_wide_characters_become_one_narrow_one() -> None:
    assert all(len(wide) == len(narrow) == 1 and narrow.isascii() for wide, narrow in wide_characters().items())
