"""Metrics printed as tables over several lines."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst import pipeline
from loganalyst.sources.text.metrics import printedtables
from loganalyst.sources.text.metrics.printedmetrics import parse
from tests.sources.text.metrics.metric_cases import frame


def test_digits_of_other_scripts_number_no_epoch() -> None:
    """A row of a table whose first cell only looks like a number belongs to the epoch before it."""
    found = parse(frame("epoch train_loss valid_loss time\n1 2.0 3.0 00:10\n߃ 1.0 2.0 00:11\n3 0.5 1.0 00:11\n"))

    assert found.filter(metric="train_loss").select("epoch", "value").rows() == [(1.0, 2.0), (1.0, 1.0), (3.0, 0.5)]


@pytest.mark.parametrize(
    "row",
    ["{}  {}  {}", "| {} | {} | {} |", "|   {}   |   {}   |   {}   |", "│ {}     │ {}     │ {}     │", "{}\t{}\t{}"],
)
@pytest.mark.parametrize(
    "ruler", ["", "+-------+----------+---------+", "|---|---|---|", "├───────┼──────────┼─────────┤"]
)
def test_columns_under_names_are_read_between_bars_too(row: str, ruler: str, tmp_path: Path) -> None:
    """tabulate, PrettyTable, rich and Markdown draw the same table."""
    head = row.format("Epoch", "Train Loss" if row[0] in "|│" else "Train_Loss", "Val_Acc").replace("│", "┃")
    rows = [row.format(i, f"{1 / i:.4f}", f"{0.1 * i:.2f}") for i in range(1, 6)]
    path = tmp_path / "log.txt"
    path.write_text("\n".join([*filter(None, [ruler, head, ruler, *rows, ruler]), ""]))
    found = pipeline.read_run(path).points.sort("metric", "step")
    found = found.with_columns(pl.col("metric").str.replace(" ", "_"))  # a table by itself is read as one

    assert found["metric"].unique().sort().to_list() == ["Train_Loss", "Val_Acc"]
    assert found.filter(metric="Train_Loss").select("step", "value").rows() == [
        (i, round(1 / i, 4)) for i in range(1, 6)
    ]


def test_a_block_is_one_record() -> None:
    """Its row is that of the last line; a heading opens a section of indented rows."""
    text = ["-" * 20, "| time/   |  |", "|    step | 5 |", "| train/  |  |", "|    loss | 0.5 |", "-" * 20]
    lines = pl.DataFrame({"row": range(6), "text": text, "session": [0] * 6})

    assert printedtables.cells(lines).select("row", "at", "role", "name", "value").rows() == [
        (4, 2, "step", "time/step", 5.0),
        (4, 4, "metric", "train/loss", 0.5),
    ]


@pytest.mark.parametrize(
    ("line", "headed"),
    [("Epoch  train_loss  val_loss", True), ("| step | loss | lr |", True), ("Epoch  size  name", False)],
)
def test_a_header_names_results(line: str, headed: bool) -> None:
    assert printedtables.headed(pl.Series([line])) is headed
