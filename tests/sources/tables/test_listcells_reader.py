"""CSV with one curve a cell."""

from pathlib import Path

import pytest

from loganalyst import pipeline
from loganalyst.model import Tables
from loganalyst.sources.tables import listcells_reader


def _read(path: Path, content: str) -> Tables:
    path.write_text(content, "utf-8")
    return Tables.concat(listcells_reader.read(path))


def test_each_row_is_a_training_of_its_own(tmp_path: Path) -> None:
    """The words before the lists name it; a single number is a metric with one value."""
    rows = 'Model,Loss,F1\nBOW,"[0.75, nan, 0.25]",0.5\nLSTM,"[0.5, None, 0.125]",0.75\n'
    points = _read(tmp_path / "losses.csv", rows).points
    shown = points.filter(points["value"].is_not_nan()).select("metric", "step", "value").rows()

    assert shown == [
        ("BOW::Loss", 0, 0.75), ("BOW::Loss", 2, 0.25), ("BOW::F1", 0, 0.5),
        ("LSTM::Loss", 0, 0.5), ("LSTM::Loss", 2, 0.125), ("LSTM::F1", 0, 0.75),
    ]  # fmt: skip
    assert points["value"].is_nan().sum() == 1  # NaN is data, None is no value


def test_cells_that_are_no_lists_become_a_gap(tmp_path: Path) -> None:
    """The lists beside them are kept."""
    found = _read(tmp_path / "losses.csv", 'Model,Loss,Acc,Note\nBOW,"[3, 2, 1]","[[1, 2]]",good\n')

    assert found.points["value"].to_list() == [3.0, 2.0, 1.0]
    assert found.gaps["why"].to_list() == ["2 cells are no lists of numbers, the first 'Acc: [[1, 2]]'"]


def test_only_the_first_rows_are_read(tmp_path: Path) -> None:
    """A longer table is a gap."""
    rows = "".join(f'm{i},"[3, 2, 1]"\n' for i in range(listcells_reader.MAX_ROWS + 1))
    found = _read(tmp_path / "losses.csv", f"Model,Loss\n{rows}")

    assert found.points["metric"].n_unique() == listcells_reader.MAX_ROWS
    assert found.gaps["why"].to_list() == ["only the first 1,000 rows are read"]


@pytest.mark.parametrize(
    ("name", "content", "sure"),
    [
        ("losses.csv", 'Model,Loss\nBOW,"[0.7, 0.6, 0.5]"\n', 0.95),
        ("losses.tsv", 'Model\tLoss\nBOW\t"[0.7, 0.6, 0.5, 0.4"\n', 0.95),
        ("boxes.csv", 'step,box\n1,"[0, 10]"\n', 0.0),
        ("words.csv", "step,words\n1,\"['a', 'b', 'c']\"\n", 0.0),
        ("metrics.csv", "step,loss\n1,0.5\n", 0.0),
        ("losses.txt", 'Model,Loss\nBOW,"[0.7, 0.6, 0.5]"\n', 0.0),
    ],
)
def test_how_sure_it_is(name: str, content: str, sure: float) -> None:
    """By the suffix, the header and the first list."""
    assert listcells_reader.sniff(Path(name), content.encode()) == sure


def test_a_run_of_such_a_table_is_judged(tmp_path: Path) -> None:
    """The losses of several models are no terms of one loss."""
    curve = [round(1 / (1 + i), 4) for i in range(20)]
    (tmp_path / "losses.csv").write_text(f'Model,Loss\nA,"{curve}"\nB,"{curve}"\n', "utf-8")
    [found] = pipeline.diagnose_paths([tmp_path])

    assert {c.metric: c.role.name for c in found.curves} == {"A::Loss": "train_loss", "B::Loss": "train_loss"}
