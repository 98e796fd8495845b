"""Blocks with the same content are listed once."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.tracebacks import folding, stacks


def test_many_blocks_are_thinned(tmp_path: Path) -> None:
    """The first and the last are kept, and a gap counts the others."""
    file = tmp_path / "a.log"
    words = [f"{a}{b}" for a in "bcdfghjklmnpqrstvwxz" for b in "bcdfghjklmnpqrstvwxzaeiou"]
    body = 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nValueError: '
    file.write_text("".join(f"{body}{word}\n" for word in words))
    tables = Tables.concat(reader.read(file))

    assert tables.blocks["message"].to_list() == [*words[:200], *words[-200:]]
    assert f"{len(words) - 400} more tracebacks and stacks not listed" in tables.gaps["why"].to_list()


@pytest.mark.parametrize(("text", "tasks"), [("0-2,7", [0, 1, 2, 7]), ("3", [3]), ("3-x,a", []), ("9-2", [])])
def test_lists_of_tasks(text: str, tasks: list[int]) -> None:
    assert list(folding._tasks(text)) == tasks


def test_state_comes_back() -> None:
    """A block met again later is the same block."""
    found = {"kind": ["python"], "first": [0], "last": [2], "exception": ["ValueError"], "message": ["bad 3"]}
    columns = pl.DataFrame(found).with_columns(session=0, first_line=1, last_line=3, offset=0)
    block = pl.concat([pl.DataFrame(schema=stacks.FOUND), columns], how="diagonal")
    once = folding.Blocks()
    once.add(block)
    again = folding.Blocks(*once.state())
    again.add(block.with_columns(message=pl.lit("bad 4"), rank=pl.lit(2, pl.Int64)))
    blocks_, gaps = again.summary("a.log")

    assert blocks_.select("message", "repeated", "ranks").rows() == [("bad 3", 2, [2])]
    assert gaps.height == 0
