"""The ledger decides which segments count; unfinished files go."""

from pathlib import Path

from loganalyst.store.segments import last
from loganalyst.store.tablefiles import Folder
from tests.store.folders import add, make_folder


def test_a_segment_that_the_ledger_does_not_name_does_not_count(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    add(folder, "a")
    (segment,) = folder.segments("runs")
    segment.with_name("9999999999999999999.parquet").write_bytes(segment.read_bytes())

    assert Folder(tmp_path).segments("runs") == [segment]


def test_dropped_runs_do_not_count_until_they_are_written_again(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    add(folder, "a", "b")
    folder.drop(["a"], last(folder.segments("runs")[0]))
    folder.save()
    assert Folder(tmp_path).counting("runs")["run_id"].to_list() == ["b"]
    add(folder, "a")

    assert sorted(folder.counting("runs")["run_id"]) == ["a", "b"]


def test_unfinished_files_are_removed(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (folder.temporary / "x").mkdir()
    (folder.temporary / "y.parquet").touch()
    folder.clear()

    assert list((tmp_path / "tmp").iterdir()) == []
