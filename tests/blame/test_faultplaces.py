"""The rank and node of a fault whose own line does not name them."""

import polars as pl

from loganalyst.blame.faultplaces import first_failures, placed
from tests.blame.blamelines import pattern, rows


def place(lines: pl.DataFrame, root: int = 0) -> tuple[int | None, str | None]:
    """Rank and node of the root-cause line."""
    found = placed(lines.filter(row=root), lines).row(0, named=True)
    return found["first_rank"], found["first_node"]


FAULT = {"part": "root", "label": "code_exception"}
HEAD = {"part": "aside", "pattern": pattern("failure_table")}
ENTRY = {"part": "confirm", "pattern": pattern("failure_table_entry")}


def test_the_line_itself_comes_first() -> None:
    """Its rank and node are not replaced."""
    assert place(rows(FAULT | {"rank": 3, "node": "n3"}, HEAD, ENTRY | {"rank": 1, "node": "n1"})) == (3, "n3")


def test_the_launchers_table_names_rank_and_node() -> None:
    """The first entry of the earliest table."""
    lines = rows(FAULT, HEAD, ENTRY | {"rank": 1, "node": "n1"}, ENTRY | {"rank": 0, "node": "n1"})

    assert place(lines) == (1, "n1")
    assert first_failures(lines).rows() == [(0, 1, "n1", True)]


def test_another_line_of_the_same_label_names_the_rank() -> None:
    """And the node, unless the fault has one."""
    assert place(rows(FAULT, {"part": "root", "label": "code_exception", "rank": 2, "node": "n2"})) == (2, "n2")


def test_a_known_rank_gets_its_node_from_its_other_lines() -> None:
    """Lines of other ranks do not matter."""
    assert place(rows(FAULT | {"rank": 1}, {"rank": 0, "node": "n0"}, {"rank": 1, "node": "n1"})) == (1, "n1")


def test_nothing_is_named_where_no_line_does() -> None:
    """Rank and node stay NULL."""
    assert place(rows(FAULT, {"part": "work"})) == (None, None)


def test_a_job_script_names_the_node_on_which_all_ran() -> None:
    """Unless any line names another one, or the fault has a rank, which may be on another node."""
    host = {"part": "advice", "pattern": pattern("host_named"), "node": "gpu-03"}

    assert place(rows(FAULT, host)) == (None, "gpu-03")
    assert place(rows(FAULT, host, {"part": "work", "node": "gpu-04"})) == (None, None)
    assert place(rows(FAULT | {"rank": 9}, host)) == (9, None)
