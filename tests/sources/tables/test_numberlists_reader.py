"""Files that are lists of numbers, in JSON and in Python's spelling."""

from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.discovery import runs as discover
from loganalyst.sources.ingest import ingest
from loganalyst.sources.tables import numberlists_reader


def read(path: Path, content: str) -> Tables:
    path.write_text(content, encoding="utf-8")
    return Tables.concat(numberlists_reader.read(path))


@pytest.mark.parametrize(
    "content",
    [
        "[2.5, NaN, 1.5]",
        "[2.5,\n nan,\n 1.5,\n]\n",
        "[[0, 2.5], [1, NaN], [2, 1.5]]",
        "[0, 2.5]\n[1, nan]\n[2, 1.5]\n",
        "[(0, 2.5), (1, nan), (2, 1.5)]",
    ],
)
def test_every_spelling_gives_the_same_points(tmp_path, content):
    found = read(tmp_path / "train_loss_50epochs.json", content)

    assert str(found.points.select("metric", "step", "value").rows()) == (
        "[('train_loss', 0, 2.5), ('train_loss', 1, nan), ('train_loss', 2, 1.5)]"
    )
    assert found.gaps.height == 0


def test_a_few_lines_of_many_numbers_are_curves(tmp_path):
    path = tmp_path / "loss.txt"
    found = read(path, "".join(" ".join(str(k + x / 4) for x in range(12)) + "\n" for k in (1, 2)))

    assert numberlists_reader.sniff(path, path.read_bytes()) == 0.9
    assert found.points.filter(metric="list_2").select("step", "value").rows() == [(x, 2 + x / 4) for x in range(12)]


def test_many_lines_of_many_numbers_are_rows(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text((" ".join(["0.5"] * 12) + "\n") * 9)

    assert numberlists_reader.sniff(path, path.read_bytes()) == 0.0


@pytest.mark.parametrize("content", ["1.5, 2.5, 3.5, 4, 5, 6, 7, 8, 9, 10", "1.5 2.5 3.5 4 5 6 7 8 9 10\n"])
def test_one_line_of_numbers(tmp_path, content):
    assert read(tmp_path / "loss.txt", content).points["value"].to_list() == [1.5, 2.5, 3.5, 4, 5, 6, 7, 8, 9, 10]


def test_a_list_that_breaks_off_keeps_its_whole_numbers(tmp_path):
    found = read(tmp_path / "loss.json", "[2.5, 2.25, 2.125, 2.0")

    assert found.points["value"].to_list() == [2.5, 2.25, 2.125]
    assert found.gaps["why"].to_list() == ["broken after 3 numbers"]


@pytest.mark.parametrize(
    ("name", "content", "sure"),
    [
        ("loss.json", "[2.5, 2.25]", 0.9),
        ("x.json", "[2.5, 2.25]", 0.55),
        ("loss.json", '[{"loss": 2.5}]', 0.0),
        ("loss.json", '[2.5, "a"]', 0.0),
        ("loss.txt", "[2024-01-01 10:00:00] loss 2.5", 0.0),
        ("loss.txt", "1 2 3", 0.0),
    ],
)
def test_only_such_files_are_taken(name, content, sure):
    assert numberlists_reader.sniff(Path(name), content.encode()) == sure


def test_a_file_of_losses_makes_its_folder_a_run(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "train_loss_50epochs.json").write_text("[2.5, 2.25, 2.125]", encoding="utf-8")

    assert [found.root.name for found in discover.runs(tmp_path)] == ["a"]
    assert ingest(tmp_path / "a").points["metric"].to_list() == ["train_loss"] * 3


def test_lists_in_a_file_that_says_their_measure(tmp_path):
    """Each is a curve of that measure, such as one of several trainings; rows of numbers may be anything."""
    curves = read(tmp_path / "val_accs.json", str([[k / 20 for k in range(n)] for n in (10, 12)]))
    rows = read(tmp_path / "loss.json", "[[0.5, 2.5], [0.25, 1.5], [0.5, 0.5]]")

    assert curves.points["metric"].value_counts(sort=True).sort("metric").rows() == [("list_1", 10), ("list_2", 12)]
    assert curves.gaps.height == 0
    assert set(rows.points["metric"]) == {"column_1", "column_2"}
