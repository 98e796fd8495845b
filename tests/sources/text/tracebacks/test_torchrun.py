"""The table that torchrun prints."""

from pathlib import Path

import polars as pl

from loganalyst.model import Run, Tables
from loganalyst.sources.text import reader
from loganalyst.sources.text.tracebacks import torchrun
from tests.sources.text.tracebacks.traceback_cases import TABLE, blocks, values


def test_torchrun_names_the_first_failed_rank(tmp_path: Path) -> None:
    """The first failed rank with its traceback, the others by their exit; the launcher failed because of the first."""
    rows = blocks(tmp_path, TABLE)

    assert values(rows, "kind", "message", "rank", "node", "ranks", "parent") == [
        ("python", "train.py FAILED", None, None, None, 2),
        ("torchrun", "train.py: exit code -15 (SIGTERM); Signal 15 (SIGTERM) received", 0, "gpu7", [0, 9], None),
        ("torchrun", "train.py: exit code 1; error file /tmp/e.json", 8, "gpu8", [8], 3),
        ("python", "boom", 8, "gpu8", [8], None),
    ]
    assert [row["frame"] for row in rows] == [None, None, None, "/home/me/train.py:5 in main"]
    assert [str(row["time"])[:19] for row in rows[1:3]] == ["2026-01-02 03:04:06", "2026-01-02 03:04:05"]


def test_the_launchers_block_is_the_ranks_traceback(tmp_path: Path) -> None:
    """Asked for the launcher's line, the run gives the traceback of the rank that failed first."""
    (tmp_path / "a.log").write_text(TABLE)
    run = Run(blocks=Tables.concat(reader.read(tmp_path / "a.log")).blocks)

    found = run.block("a.log", 4)
    assert found is not None
    assert (found["message"], found["rank"]) == ("boom", 8)
    assert run.block("a.log", 6) is None
    assert run.block("b.log", 4) is None


def test_entries_roots_first() -> None:
    """Each with script, exit code, its own words and the file of the error."""
    rows = pl.DataFrame({"prefix": "", "body": TABLE.split("\n")})
    found = torchrun.find(rows).select("root", "rank", "node", "message").rows()

    assert found == [
        (True, 8, "gpu8", "train.py: exit code 1; error file /tmp/e.json"),
        (False, 0, "gpu7", "train.py: exit code -15 (SIGTERM); Signal 15 (SIGTERM) received"),
        (False, 9, "gpu8", "train.py: exit code -15 (SIGTERM); Signal 15 (SIGTERM) received"),
    ]
