"""An audit on a terminal."""

import polars as pl
import pytest

from loganalyst.auditing.runlist import COLUMNS
from loganalyst.report.audit import screen

RUN = {
    "path": "/r/a",
    "issue": "",
    "why": "",
    "status": "healthy",
    "origin": "ours",
    "file": "",
    "line": 0,
    "step": None,
}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"issue": "Out of memory"}, "Out of memory"),
        ({"issue": "Mine", "origin": "my.yaml"}, "Mine (not ours)"),
        ({"status": "unreadable", "why": "/r/a: no such file"}, "no such file"),
        ({"status": "cause_unknown"}, "cause not known"),
        ({}, ""),
    ],
)
def test_a_run_is_summed_up(more, words):
    """Its cause, or why there is none."""
    assert screen.summary({**RUN, **more}) == words


def test_a_place_is_a_line_or_a_step():
    """The line wins; the file loses its folder."""
    assert screen.place({**RUN, "file": "a/b.log", "line": 3, "step": 9}) == "b.log:3"
    assert (screen.place({**RUN, "step": 1500}), screen.place(RUN)) == ("step 1,500", "")


def test_a_group_names_a_node_of_two_runs():
    """One run on a node says nothing about the node."""
    group = {"confidence": 0.9, "node": "n1", "on_node": 2, "settings": ["lr = 1"]}

    assert screen.facts(group) == ["90 % sure", "2 on n1", "lr = 1"]
    assert screen.facts({**group, "on_node": 1}) == ["90 % sure", "lr = 1"]
    assert [screen.contrast({"key": "lr", "value": v}) for v in ("> 0.1", "2")] == ["lr > 0.1", "lr = 2"]


def test_settings_are_counted_by_file():
    """Ignored files are one row, with the reason; foreign causes name their file."""
    runs = pl.DataFrame(
        {
            "settings_obeyed": ["x.yaml: 2 roles", "x.yaml: 2 roles"],
            "settings_ignored": ["/r/a.yaml\n/r/b.yaml", None],
            "accepted": [None, "spikes: fine (x.yaml)"],
            "cause": ["mine", None],
            "origin": ["my.yaml", None],
        }
    )

    assert screen.settings_rows(runs) == [
        ("Obeyed", "x.yaml: 2 roles (2 runs)"),
        ("Not obeyed", "/r/a.yaml and 1 more: because it came with a run; --trust-run-settings obeys such files"),
        ("Accepted", "spikes: fine (x.yaml) (1 run)"),
        ("Not ours", "mine: from my.yaml (1 run)"),
    ]


def test_hostile_names_stay_on_their_line() -> None:
    """Escapes and line breaks in a path or a message are not printed."""
    row = {"path": "/r/a\x1b[2J\nb", "status": "unreadable", "why": "bad\x1b]0;x\x07 thing\nmore"}
    nothing = pl.DataFrame(schema={"runs": pl.Int64})
    shown = screen.render(pl.DataFrame([row], schema=COLUMNS), nothing, nothing)

    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 4
