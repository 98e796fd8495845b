"""The traceback behind a cause: told once, with what the lines around do not say."""

import json
from dataclasses import replace
from typing import Any

import pytest

from loganalyst import model
from loganalyst.model import Cause, Diagnosis, Evidence, Run
from loganalyst.report.diagnosis.raisederror import listed, raised
from loganalyst.report.diagnosis.terminal import render

BLOCK = {
    "file": "slurm-7.out", "block": 0, "kind": "python", "first_line": 4, "last_line": 9, "exception": "ValueError",
    "message": "no shard", "frame": "data.py:3 in get", "ranks": [[0, 1, 2, 5]], "repeated": 4,
}  # fmt: skip


def diagnosis(said: str, **changed: Any) -> Diagnosis:
    """A failed run whose cause stands at line 9, where the block ends."""
    columns = {name: value if name == "ranks" else [value] for name, value in {**BLOCK, **changed}.items()}
    cause = Cause(
        id="x", label="code_exception", issue="It broke", severity="error", confidence=0.9, band="high",
        verdict="likely", summary="", mechanism="", fix=(), file="slurm-7.out", line=9,
        evidence=(Evidence("e", "direct", True, said, 1.0, file="slurm-7.out", line=9),),
    )  # fmt: skip
    run = Run(name="exp", status="failed", blocks=model.table("blocks", columns))
    return Diagnosis(run=run, status="diagnosis_complete", confidence=0.9, causes=(cause,))


def test_what_is_known_is_told() -> None:
    """Exception with message, frame and ranks; how often only where that is more than once a rank."""
    d = diagnosis("a line")
    rows = (("Error", "ValueError: no shard"), ("Frame", "data.py:3 in get"), ("Ranks", "0-2, 5"))

    assert raised(d.causes[0], d) == rows
    again = diagnosis("a line", repeated=9)
    assert raised(again.causes[0], again) == (*rows, ("Printed", "9 times"))


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("the log says so", "ValueError: no shard, at data.py:3 in get, by ranks 0-2, 5"),
        ("no shard", "ValueError, at data.py:3 in get, by ranks 0-2, 5"),
        ("ValueError: no shard at data.py:3 in get", "by ranks 0-2, 5"),
    ],
)
def test_the_terminal_says_nothing_twice(said: str, line: str) -> None:
    """What the evidence says is left out."""
    (shown,) = [text for text in render(diagnosis(said)).splitlines() if "Raised" in text]

    assert shown.split("Raised")[1].strip() == line


def test_another_line_has_no_block() -> None:
    """A cause that stands elsewhere, or nowhere in a log, has none."""
    d = diagnosis("a line")
    elsewhere = replace(d.causes[0], line=10)

    assert raised(elsewhere, d) == ()
    assert raised(replace(elsewhere, file=None, line=None), d) == ()
    assert "Raised" not in render(replace(d, causes=(elsewhere,)))


def test_json_has_the_block() -> None:
    """As it is in the table; null where there is none."""
    d = diagnosis("a line")
    names = ("kind", "exception", "message", "frame", "first_line", "last_line", "repeated")

    (cause,) = json.loads(d.to_json())["root_causes"]
    assert cause["block"] == {**{name: BLOCK[name] for name in names}, "ranks": [0, 1, 2, 5]}
    (cause,) = json.loads(replace(d, causes=(replace(d.causes[0], line=1),)).to_json())["root_causes"]
    assert cause["block"] is None


def test_many_ranks_are_counted() -> None:
    """Runs of ranks are joined; of many the first are listed."""
    assert listed([3, 1, 2, 7]) == "1-3, 7"
    assert listed(list(range(0, 40, 2))) == "0, 2, 4, 6, 8, 10, 12, 14 and others, 20 in all"
