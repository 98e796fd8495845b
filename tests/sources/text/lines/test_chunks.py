"""The texts of rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines.chunks import split


@given(st.text(st.characters(codec="utf-8")))
def test_lines_end_at_lf_in_small_and_large_texts(text: str) -> None:
    assert split(text.encode(), polars_from=1).to_list() == text.split("\n")


@pytest.mark.parametrize("text", ["x^2 is the loss\nstep 1", "x\x01\x80\n", "\x1f\ufffd"])
def test_a_text_may_begin_like_a_compressed_file(text: str) -> None:
    assert split(text.encode(), polars_from=1).to_list() == text.split("\n")
