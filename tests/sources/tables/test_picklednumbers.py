"""Pickles of plain data and NumPy's numbers: real ones, hostile ones, and ones that break off."""

import os
import pickle
import struct
from collections import defaultdict
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.flightrecorder.plainpickle import MAX_MEMO, RefusedError
from loganalyst.sources.tables.picklednumbers import MAX_BYTES, MAX_KEY, MAX_NUMBERS, loads, opening

PROTOCOLS = range(2, 6)
CURVES = st.dictionaries(st.text(max_size=MAX_KEY), st.lists(st.floats() | st.integers(-(2**70), 2**70)))


class Evil:
    """Runs a command where Python's own reader loads it."""

    def __reduce__(self):
        return os.system, ("touch pwned",)


def refused(data: bytes) -> str:
    with pytest.raises(RefusedError) as error:
        loads(data)
    return str(error.value)


@given(CURVES, st.sampled_from(PROTOCOLS))
def test_lists_of_numbers_are_read_as_by_python(curves, protocol):
    """NaN and the infinities too."""
    assert str(loads(pickle.dumps(curves, protocol)).value) == str(curves)


@given(st.lists(st.floats(width=16)), st.sampled_from(["f2", "f4", ">f8", "<f8"]), st.sampled_from(PROTOCOLS))
def test_arrays_and_scalars_of_numpy(numbers, code, protocol):
    """Also a view of every second number, which NumPy pickles in another way."""
    array = np.array(numbers, code)
    data = {"loss": array, "half": array[::2], "scalars": list(array)}

    found = loads(pickle.dumps(data, protocol))
    assert str(found.value) == str({"loss": array.tolist(), "half": array[::2].tolist(), "scalars": array.tolist()})
    assert found.lost == ()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_whole_numbers_truth_values_and_other_shapes(protocol):
    data = [np.int64(-3), np.uint8(200), np.bool_(True), np.arange(3, dtype=np.int16), np.array(0.5), np.zeros((2, 3))]

    found = loads(pickle.dumps(data, protocol))
    assert found.value == [-3, 200, True, [0, 1, 2], [0.5], []]
    assert found.lost == ("an array of shape (2, 3) is no curve",)


def test_numpy_1_has_other_names():
    dump = pickle.dumps([np.float32(0.5), np.zeros(2)], 2)

    assert b"numpy._core" in dump
    assert loads(dump.replace(b"numpy._core", b"numpy.core")).value == [0.5, [0.0, 0.0]]


def test_whole_numbers_as_keys_become_texts():
    """As in JSON."""
    assert loads(pickle.dumps({1: {"loss": 0.5}, 2: {"loss": 0.25}})).value == {"1": {"loss": 0.5}, "2": {"loss": 0.25}}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_never_runs(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps({"loss": [0.5, 0.25], "x": Evil()}, protocol)

    assert refused(data) == "it holds `posix.system`, which could run code"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (defaultdict(list, loss=[0.5]), "collections.defaultdict"),
        ({"loss": np.array(["a"], object)}, "numpy"),
        ({"when": np.datetime64("2026-01-01")}, "numpy"),
        ({"loss": [Fraction(1, 3)]}, "fractions.Fraction"),
        ({"loss": {0.5, 0.25}}, "plain data"),
        ({(1, 2): 3}, "is not a text"),
        ({"loss": b"x"}, "bytes"),
    ],
)
def test_everything_else_is_refused(value, name):
    assert name.lower() in refused(pickle.dumps(value, 4)).lower()


def test_lists_that_multiply_are_refused():
    """Twenty lists, each of ten times the one before; a list that holds itself; a thousand within each other."""
    many: list[object] = [0.5]
    for _ in range(20):
        many = [many] * 10
    cycle: list[object] = []
    cycle.append(cycle)
    wide = [[[0.5] * 1000] * 1000] * 1000

    assert refused(pickle.dumps(many)) == refused(pickle.dumps(cycle)) == "lists within lists, deeper than 6"
    assert refused(b"\x80\x02" + b"]" * 1000 + b"a" * 999 + b".") == "lists within lists, deeper than 6"
    assert refused(pickle.dumps(wide)) == f"more than {MAX_NUMBERS:,} values"


def test_long_texts_are_bounded():
    """A pickle repeats a text with two bytes, and nested names repeat those around them."""
    assert refused(pickle.dumps(["x" * 100_000] * 1000)) == f"more than {MAX_NUMBERS:,} values"
    assert refused(pickle.dumps({"x" * 201: [0.5]})) == "a key is longer than 200 characters"


def test_bombs_are_refused():
    assert refused(b"\x80\x04]" + b"\x94" * (MAX_MEMO + 1) + b".") == f"more than {MAX_MEMO:,} values to refer to"
    assert refused(b"\x80\x04" + b"N" * MAX_BYTES) == "larger than 8 MiB"
    array = pickle.dumps(np.zeros(10_000), 5)
    begin = array.index(b"\x8c\x13numpy._core.numeric")
    again = b"h\x02h\x0eR"  # the memo's places of `_frombuffer` and of its arguments
    assert "make more than 32 MiB" in refused(b"\x80\x05" + array[begin : array.rindex(b"R")] + again * 1000 + b".")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_that_breaks_off_anywhere_is_refused(protocol):
    """What it holds so far is what its reader is chosen by."""
    data = pickle.dumps({"loss": [0.5, np.float32(0.25)], "acc": np.array([0.5, 0.75]), "n": 3}, protocol)
    for cut in range(len(data)):
        assert refused(data[:cut])
        assert isinstance(opening(data[:cut]), dict | None)
    assert opening(data[: data.index(b"acc") + 3]) == {"loss": [0.5, 0.25]}


@given(
    st.binary(max_size=200), st.sampled_from([b"\x80\x02", b"\x80\x04}(", b"\x80\x05](", struct.pack(">Bd", 0x47, 0.5)])
)
def test_any_bytes_are_read_or_refused(data, begin):
    for read in (loads, opening):
        with suppress(RefusedError):
            read(begin + data)
