"""Logs of `step name value`: every value as numpy reads it, lines of another form as a gap."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loganalyst.model import Tables
from loganalyst.sources.tables import namedrows_reader

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_/.-]{0,12}", fullmatch=True)
ROWS = st.lists(st.tuples(st.integers(0, 10**12), NAMES, st.floats(width=64)), max_size=30)


def read(path: Path, text: str) -> Tables:
    path.write_text(text, encoding="utf-8")
    return Tables.concat(namedrows_reader.read(path))


def test_a_log_of_build_nanogpt(tmp_path):
    """Step, name and value of each line, with its line number."""
    found = read(tmp_path / "log.txt", "0 val 10.9511\n0 hella 0.2463\n0 train 10.955029\n1 train 9.5e0\n")

    assert found.points.select("step", "metric", "value", "line", "source").rows() == [
        (0, "val", 10.9511, 1, "log.txt"),
        (0, "hella", 0.2463, 2, "log.txt"),
        (0, "train", 10.955029, 3, "log.txt"),
        (1, "train", 9.5, 4, "log.txt"),
    ]
    assert found.gaps.height == 0


def test_other_lines_are_a_gap(tmp_path):
    """A line of another form costs nothing but itself; the gap names the first ones."""
    found = read(tmp_path / "log.txt", "0 train 1.5\nresumed\n1 train nan\n2 train -inf\n3 train\n")

    assert found.points["value"].to_list()[0] == 1.5
    assert math.isnan(found.points["value"][1])
    assert found.points["value"][2] == -math.inf
    assert found.gaps["why"].to_list() == ["2 lines are not `step name value`: 2, 5"]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("0 val 1.5\n0 train 1.6\n", 0.8),
        ("0 val 1.5\n", 0.0),  # one line shows no form
        ("step 0 loss 1.5\nstep 1 loss 1.4\n", 0.0),
        ("1 2 3\n4 5 6\n", 0.0),
        ("10 files copied\n12 files copied\n", 0.0),
    ],
)
def test_only_such_logs_are_taken(text, sure):
    assert namedrows_reader.sniff(Path("log.txt"), text.encode()) == sure


@given(ROWS)
def test_every_value_comes_back(tmp_path_factory, rows):
    """Whatever floats and names are written, the same come back."""
    text = "".join(f"{step} {name} {value!r}\n" for step, name, value in rows)
    found = read(tmp_path_factory.mktemp("rows") / "log.txt", text)

    assert found.points.select("step", "metric").rows() == [(step, name) for step, name, _ in rows]
    assert list(map(repr, found.points["value"])) == [repr(value) for *_, value in rows]
