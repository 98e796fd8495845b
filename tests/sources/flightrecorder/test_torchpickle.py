"""Pickles as torch writes them: Python's own reader and the stack machine agree."""

import pickle
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.sources.flightrecorder import plainpickle, torchpickle
from loganalyst.sources.flightrecorder.plainpickle import MAX_CONTAINERS, RefusedError

DUMPS = Path(__file__).parents[3] / "fixtures" / "collectives"
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@pytest.mark.parametrize("case", ["rank-asleep", "two-groups-in-other-order"])
def test_a_real_dump_is_accepted(case):
    """It contains pairs of texts as tuples."""
    data = (DUMPS / case / "trace_rank_1").read_bytes()
    found = torchpickle.loads(data, MAX_CONTAINERS)

    assert b"\x86" in data
    assert found is not None
    assert found == plainpickle.Machine(data).run()


@pytest.mark.parametrize("many", [3, 200])
def test_pairs_of_new_and_of_known_texts(many):
    """With memo places below and above 255."""
    data = pickle.dumps([(f"g{n // 2 * k}", f"pg {n * k % 7}") for n in range(many) for k in (1, 2)], 2)

    assert torchpickle.loads(data, MAX_CONTAINERS) == plainpickle.Machine(data).run()


def test_empty_tuples_are_lists():
    """Inside other values, and alone."""
    assert torchpickle.loads(pickle.dumps({"a": (), "b": [(), ("x", "y")]}, 2), MAX_CONTAINERS) == {
        "a": [],
        "b": [[], ["x", "y"]],
    }
    assert torchpickle.loads(pickle.dumps((), 2), MAX_CONTAINERS) == []


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps({"entries": print}, 2),
        pickle.dumps({"a": (1, 2, 3)}, 2),
        pickle.dumps({("a", ("b", "c")): 1}, 2),
        pickle.dumps([(("a", "b"), "c")], 2),
        pickle.dumps(["\ud800"], 2),
        pickle.dumps(["x"], 4),
        b"\x80\x02]r\xff\xff\xff\x7f.",
        b"\x80\x02]",
        b"\x80\x02u.",
        b"\x80\x02X\xff\xff\xff\xffa.",
        b"\x80\x02h\x07.",
        b"",
    ],
)
def test_other_pickles_are_left_to_the_stack_machine(data):
    """Calls, deeper tuples, broken texts, far memo places, newer protocols, damage."""
    assert torchpickle.loads(data, MAX_CONTAINERS) is None


def test_too_many_containers_are_left_to_the_stack_machine():
    """Counted before they are made."""
    assert torchpickle.loads(b"\x80\x02(" + b"]" * 11 + b"l.", 10) is None
    assert torchpickle.loads(b"\x80\x02(" + b"]" * 8 + b"l.", 10) == [[]] * 8


@given(PLAIN | st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3))), st.binary(max_size=6), st.data())
def test_the_stack_machine_reads_the_same(value, noise, draw):
    """For pickles, and for damaged ones that the machine does not refuse."""
    data = pickle.dumps(value, 2)
    at = draw.draw(st.integers(0, len(data)))
    data = data[:at] + noise + data[at + len(noise) :]
    found = torchpickle.loads(data, MAX_CONTAINERS)
    if found is not None and "..." not in str(found) and _keyed(found):
        with suppress(RefusedError, LookupError, TypeError, ValueError):
            assert str(found) == str(plainpickle.Machine(data).run())


def _keyed(value: object) -> bool:
    """Whether all keys are texts; the machine refuses others."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(isinstance(key, str) for key in (value if isinstance(value, dict) else ())) and all(map(_keyed, inner))
