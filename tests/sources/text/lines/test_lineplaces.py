"""The places of line ends and of other control characters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.text.lines.lineplaces import line_starts, places_of


@given(st.lists(st.integers(1, 70), max_size=40), st.integers(0, 70))
def test_ends_of_lines_are_found_at_any_distance(lengths: list[int], rest: int) -> None:
    """One, two or more among 32 bytes, and the bytes behind the last 32."""
    at = np.cumsum(np.array(lengths, np.int64)) - 1
    mask = np.zeros(sum(lengths) + rest, bool)
    mask[at] = True
    assert places_of(mask).tolist() == at.tolist()


@given(st.lists(st.sampled_from([b"\n", b"\t", b"\r", b"\x1b", b"x", b"chatter of a line"]), max_size=60))
def test_rows_begin_behind_lf_and_other_control_characters_are_known(parts: list[bytes]) -> None:
    data = b"".join(parts)
    starts, others = line_starts(data, cache=16)
    lengths = [len(line) + 1 for line in data.split(b"\n")]
    assert starts.tolist() == [0, *np.cumsum(lengths).tolist()]
    assert others == set(data) & set(b"\t\r\x1b")
