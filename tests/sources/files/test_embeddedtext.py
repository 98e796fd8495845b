"""Printed text in a file of another format."""

from pathlib import Path

from loganalyst.model import Tables
from loganalyst.sources.files.embeddedtext import printed


def test_lines_and_blocks_are_kept_without_offsets_and_numbers(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_text(
        "step 1 loss 0.5\nstep 2 loss 0.4\nTraceback (most recent call last):\n"
        '  File "a.py", line 1, in f\nValueError: x\n'
    )
    found = Tables.concat(list(printed(tmp_path / "output.log")))

    assert found.points.height == 0
    assert found.blocks.select("exception", "session", "offset").rows() == [("ValueError", 0, None)]
    assert found.lines["offset"].null_count() == found.lines.height > 0
