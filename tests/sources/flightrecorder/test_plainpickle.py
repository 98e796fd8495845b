"""Pickles of plain data, read by the stack machine."""

import pickle
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.flightrecorder.plainpickle import MAX_CONTAINERS, RefusedError, loads

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def refused(data: bytes) -> str:
    with pytest.raises(RefusedError) as error:
        loads(data)
    return str(error.value)


@given(PLAIN, st.integers(2, 5))
def test_plain_data_is_read_as_by_python(data, protocol):
    """All protocols that write binary opcodes."""
    assert loads(pickle.dumps(data, protocol)) == data


def test_tuples_are_lists():
    """Nothing hashable is built."""
    assert loads(pickle.dumps(((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)), 2)) == [
        [],
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 3, 4],
    ]


@pytest.mark.parametrize(
    "harm", [print, datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, Path("x"), bytearray(b"x"), RefusedError("x")]
)
def test_other_data_are_refused(harm):
    """Classes, functions, and objects that are built by calling one."""
    assert "asks for more than plain data" in refused(pickle.dumps({"entries": harm}, 2))


def test_a_key_that_is_not_a_text_is_refused():
    """Hashing a tuple of tuples can take for ever."""
    assert "is not a text" in refused(pickle.dumps({(1, 2): 3}, 2))


def test_a_far_memo_place_costs_nothing():
    """Python's own unpickler would take 32 GiB for this one."""
    assert loads(b"\x80\x02]r\xff\xff\xff\x7f.") == []


def test_a_bomb_of_containers_is_refused():
    """Each takes one byte in the file, and at least 56 in memory."""
    assert f"more than {MAX_CONTAINERS:,} containers" in refused(b"\x80\x02(" + b"]" * (MAX_CONTAINERS + 1) + b"l.")


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_cut_pickle_is_refused(cut):
    """Wherever the pickle ends."""
    assert refused(pickle.dumps({"version": "2.10", "entries": [(1, 2.5, "x")]}, 2)[:-cut])


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02u.",
        b"\x80\x02e.",
        b"\x80\x02\x86.",
        b"\x80\x02h\x07.",
        b"\x80\x02}K\x01a.",
        b"\x80\x02X\xff\xff\xff\xffa.",
        b"\x80\x02.",
    ],
)
def test_opcodes_without_their_operands_are_refused(data):
    """An empty stack, no mark, an unknown memo place, a text longer than the file."""
    assert "damaged at byte" in refused(data)
