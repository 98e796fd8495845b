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


MATLAB = """\
|======================================================================================================|
|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Validation  |  Mini-batch  |  Base Learning  |
|         |             |   (hh:mm:ss)   |   Accuracy   |   Accuracy   |     Loss     |      Rate       |
|======================================================================================================|
|       1 |           1 |       00:00:03 |       18.75% |       22.11% |       2.2874 |          0.0100 |
|       1 |          50 |       00:00:09 |       31.25% |              |       1.9310 |          0.0100 |
|       2 |         100 |       00:00:14 |       43.75% |       51.02% |       1.5120 |          0.0100 |
|======================================================================================================|
"""
SPACY = """\
E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  SCORE
---  ------  ------------  --------  ------  ------  ------
  0       0          0.00     40.12    0.52    0.91    0.01
  0     200         85.31   1790.23   55.20   60.11    0.55
  1     400        101.99   1021.50   66.81   70.02    0.67
"""


def columns(text: str) -> dict[str, list[tuple[int, float]]]:
    found = parse(frame(text))
    return {m: found.filter(metric=m).select("step", "value").rows() for m in found["metric"].unique().to_list()}


def test_a_header_of_two_rows_and_cells_without_a_value() -> None:
    """The table that MATLAB's trainNetwork prints."""
    found = columns(MATLAB)

    assert found["Mini-batch_Accuracy"] == [(1, 18.75), (50, 31.25), (100, 43.75)]
    assert found["Validation_Accuracy"] == [(1, 22.11), (100, 51.02)]
    assert found["Mini-batch_Loss"] == [(1, 2.2874), (50, 1.931), (100, 1.512)]
    assert found["Base_Learning_Rate"] == [(1, 0.01), (50, 0.01), (100, 0.01)]


def test_epochs_beside_steps_and_names_of_two_words() -> None:
    """The table that spaCy's console logger prints."""
    found = columns(SPACY)

    assert found["LOSS_NER"] == [(0, 40.12), (200, 1790.23), (400, 1021.5)]
    assert found["ENTS_F"] == [(0, 0.52), (200, 55.2), (400, 66.81)]


@pytest.mark.parametrize(
    "text",
    [
        "epoch  | train_loss | val_loss\n-------+------------+---------\n  1 |  0.9000 | 0.9500\n  2 |  0.7 | 0.8\n",
        "# Epoch  train_loss  val_loss\n  1  0.9  0.95\n  2  0.7  0.8\n",
    ],
)
def test_columns_between_inner_bars_and_under_a_comment(text: str) -> None:
    assert columns(text) == {"train_loss": [(1, 0.9), (2, 0.7)], "val_loss": [(1, 0.95), (2, 0.8)]}
