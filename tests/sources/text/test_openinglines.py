"""The set-up lines of a program that come again."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.openinglines import is_banner

SET_UP = "Loading config base.yaml\nUsing device cuda:0\nDataset: 81234 samples\n"
STEPS = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(9))
MORE = "".join(f"step {i} loss {2 - i / 64}\n" for i in range(9, 18))
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 4, in <module>\n    main()\nKeyError: 7\n'


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("Dataset: 81234 samples", True), ("short", False), ('  File "train.py", line 4', False), ("x" * 2000, False)],
)
def test_a_banner(text: str, is_one: bool) -> None:
    assert is_banner(text, text) == is_one


@pytest.mark.parametrize(
    ("set_up", "again", "starts"),
    [
        ("host gpu07 found\n" + SET_UP, SET_UP, [1, 18]),
        ("host gpu07 found\n" + SET_UP, SET_UP.replace("81234", "99999"), [1, 18]),
        ("host gpu07 found\n" + SET_UP, "Using device cuda:0\n", [1]),
        ("host gpu07 found\n" + SET_UP, "Dataset: 81234 samples\nUsing device cuda:0\n", [1]),
        ("host gpu07 found\n" + 2 * SET_UP, SET_UP, [1]),
    ],
)
def test_two_set_up_lines_in_their_order_are_a_start(tmp_path: Path, set_up: str, again: str, starts: list[int]):
    """Lines that all ranks print, or that come alone, are none."""
    path = tmp_path / "train.log"
    path.write_text(set_up + STEPS + TRACE + again + MORE)

    assert Tables.concat(reader.read(path)).sessions["first_line"].to_list() == starts


def test_tracebacks_of_ranks_are_no_set_up(tmp_path: Path):
    """Several ranks may print the same one before any step."""
    path = tmp_path / "train.log"
    lines = TRACE.replace("main()", "main(arguments)").splitlines()
    first, *others = ("".join(f"[rank{rank}]: {line}\n" for line in lines) for rank in range(3))
    path.write_text("host gpu07 found\n" + first + STEPS + "".join(others))

    assert Tables.concat(reader.read(path)).sessions["first_line"].to_list() == [1]
