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


@pytest.mark.parametrize(
    "bar", ["100% 92/92 [00:42<00:00,  3.29it/s]", "100%|##| 92/92 [00:42<00:00]", "100% ━━━━ 92/92 3.29it/s"]
)
def test_columns_before_a_bar(bar: str) -> None:
    """YOLOv3 prints them so; a notebook draws no bar between the share and the count."""
    head = "     Epoch   gpu_mem       box       obj       cls  img_size\n"
    scores = f"               Class      Images           P           R: {bar}\n"
    rows = [f"       {e}/1     2.50G   {0.0625 / (e + 1)}   0.0125   0.0225       640: {bar}\n" for e in range(2)]
    found = parse(frame(head + rows[0] + scores + head + rows[1] + scores))

    assert found.filter(metric="box").select("step", "value").rows() == [(0, 0.0625), (1, 0.03125)]
    assert found["metric"].unique().sort().to_list() == ["box", "cls", "gpu_mem", "obj"]


def test_a_row_that_does_not_fit_its_header_has_no_values() -> None:
    """Ultralytics' scores of the validation, printed under the columns of the training."""
    head = "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
    row = "        1/3      2.5G     1.5    0.0625    0.015625        125        640\n"
    found = parse(
        frame(head + row + "                   all        128        929      0.60       0.50       0.40       0.30\n")
    )

    assert found.select("metric", "value").rows() == [
        ("GPU_mem", 2.5), ("box_loss", 1.5), ("cls_loss", 0.0625), ("dfl_loss", 0.015625)
    ]  # fmt: skip
