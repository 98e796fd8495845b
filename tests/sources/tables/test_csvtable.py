"""The state of one table of delimited text, block by block."""

from pathlib import Path

from loganalyst.model import Tables
from loganalyst.sources.files.lineblocks import blocks
from loganalyst.sources.tables.csvtable import TextTable, comments_above


def test_a_repeated_header_begins_a_session(tmp_path: Path) -> None:
    """Across blocks, the axes and the session carry on."""
    file = tmp_path / "metrics.csv"
    file.write_text("step,loss\n1,0.5\n2,0.4\nstep,loss\n1,0.9\n2,0.8\n")
    table = TextTable(file)
    found = Tables.concat([tables for block in blocks(file, size=16) for tables in table.feed(block)])

    assert found.points.select("session", "step", "value").rows() == [
        (0, 1, 0.5),
        (0, 2, 0.4),
        (1, 1, 0.9),
        (1, 2, 0.8),
    ]
    assert (table.header, table.refused, table.gap_rows().gaps.height) == (["step", "loss"], "", 0)


def test_a_list_of_texts_is_refused(tmp_path: Path) -> None:
    """It has no axis; the gap says so."""
    file = tmp_path / "files.csv"
    file.write_text("image,label\na.png,cat\nb.png,dog\n")
    table = TextTable(file)
    points = [tables.points.height for block in blocks(file) for tables in table.feed(block)]

    assert sum(points) == 0
    assert table.gap_rows().gaps["why"].to_list() == ["no numeric column"]


def test_comments_end_at_the_first_row() -> None:
    assert comments_above(["# a", "# b", "step", "# c"]) == ["# a", "# b"]
