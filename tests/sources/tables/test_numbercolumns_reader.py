"""Columns of numbers without a header: what `numpy.savetxt` writes, with the names that a comment gives."""

from pathlib import Path

import numpy as np
import pytest

from loganalyst.model import Tables
from loganalyst.sources.tables import numbercolumns_reader


def read(path: Path, rows: object, header: str = "") -> Tables:
    np.savetxt(path, np.asarray(rows, float), header=header)
    return Tables.concat(numbercolumns_reader.read(path))


def test_losses_of_deepxde(tmp_path):
    """Its comment names groups: two terms in both losses, and one metric that is left over."""
    header = "step, loss_train, loss_test, metrics_test"
    found = read(tmp_path / "loss.dat", [[0, 1, 2, 3, 4, 5], [500, 6, 7, 8, 9, 10]], header)

    assert found.points.filter(step=500).select("metric", "value", "line").rows() == [
        ("loss_train/1", 6.0, 3),
        ("loss_train/2", 7.0, 3),
        ("loss_test/1", 8.0, 3),
        ("loss_test/2", 9.0, 3),
        ("metrics_test", 10.0, 3),
    ]


def test_a_comment_with_a_name_for_each_column(tmp_path):
    found = read(tmp_path / "history.txt", [[1, 0.5, 0.7], [2, 0.4, 0.8]], "epoch train_loss val_loss")

    assert found.points.select("step", "metric", "value").rows() == [
        (1, "train_loss", 0.5), (2, "train_loss", 0.4), (1, "val_loss", 0.7), (2, "val_loss", 0.8),
    ]  # fmt: skip


def test_names_of_two_words_between_tabs(tmp_path):
    """The numbers are separated by blanks."""
    found = read(tmp_path / "out.txt", [[1, 0.5], [2, 0.4]], "epoch\ttraining loss")

    assert found.points.select("step", "metric", "value").rows() == [
        (1, "training loss", 0.5),
        (2, "training loss", 0.4),
    ]


def test_a_line_of_names_that_is_no_comment(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("train_loss val_loss\n0.5 0.7\n0.4 0.8\n0.3 0.9\n", encoding="utf-8")
    found = Tables.concat(numbercolumns_reader.read(path))

    assert numbercolumns_reader.sniff(path, path.read_bytes()) == 0.55
    assert found.points.filter(metric="val_loss").select("step", "value").rows() == [(0, 0.7), (1, 0.8), (2, 0.9)]
    assert not found.gaps.height


def test_no_names_and_no_steps(tmp_path):
    """Columns keep their number, and rows are counted."""
    found = read(tmp_path / "loss.dat", [[0.5, 0.1, 2.5], [0.4, 0.2, 2.5], [0.3, 0.3, 2.5]])

    assert found.points.filter(metric="column_1").select("step", "value").rows() == [(0, 0.5), (1, 0.4), (2, 0.3)]
    assert set(found.points["metric"]) == {"column_1", "column_2", "column_3"}


def test_rows_of_another_width_are_a_gap(tmp_path):
    path = tmp_path / "loss.dat"
    path.write_text("0 1.5\n1 1.4\n2 1.2 9\n3 nan\n", encoding="utf-8")
    found = Tables.concat(numbercolumns_reader.read(path))

    assert found.points["step"].to_list() == [0, 1, 3]
    assert np.isnan(found.points["value"][2])
    assert found.gaps["why"].to_list() == ["1 rows do not have 2 numbers"]


def test_columns_without_names_are_explained(tmp_path):
    """The first counts, although brackets and commas stand between; the others keep their numbers."""
    path = tmp_path / "out.txt"
    path.write_text("[0, 2.5, 0.25],\n[10, 2.0, 0.5],\n[20, 1.5, 0.75]\n", encoding="utf-8")
    found = Tables.concat(numbercolumns_reader.read(path))

    assert found.points.filter(step=10).select("metric", "value", "line").rows() == [
        ("column_2", 2.0, 2), ("column_3", 0.5, 2),
    ]  # fmt: skip
    assert found.gaps["why"].to_list() == [
        "3 lines of 3 numbers without names, such as `[0, 2.5, 0.25],`: add a header line such as `step,loss,accuracy`"
    ]


@pytest.mark.parametrize(
    ("name", "text", "sure"),
    [
        ("loss.dat", "0 1.5\n1 1.4\n2 1.3\n", 0.7),
        ("train.dat", "# step, loss_train\n0 1.5\n1 1.4\n2 1.3\n", 0.7),
        ("points.dat", "0 1.5\n1 1.4\n2 1.3\n", 0.55),
        ("out.txt", "% epoch  val acc\n0 0.5\n1 0.6\n2 0.7\n", 0.7),
        ("out.txt", "width height\n0 0.5\n1 0.6\n2 0.7\n", 0.0),  # no names of measures
        ("out.txt", " ".join(["0.5"] * 12) + "\n" + " ".join(["0.4"] * 12) + "\n" + " ".join(["0.3"] * 12) + "\n", 0.0),
        ("ids.txt", "1 0\n2 0\n3 1\n", 0.0),
        ("out.txt", "1, 0.5\n2, 0.25\n3, 0.125\n", 0.55),
        ("out.txt", "1, 0.5\n2, 0.25\n3, 0.125\n" + "9 0.5\n" * 60 + "Traceback (most recent call last):\n", 0.0),
        ("loss.csv", "1,0.5\n2,0.25\n3,0.125\n", 0.0),
        ("loss.dat", "0 1.5\n1 1.4 2\n2 1.3\n", 0.0),
        ("loss.dat", "epoch 1 loss 2\nepoch 2 loss 1\nepoch 3 loss 1\n", 0.0),
    ],
)
def test_only_such_files_are_taken(name, text, sure):
    assert numbercolumns_reader.sniff(Path(name), text.encode()) == sure
