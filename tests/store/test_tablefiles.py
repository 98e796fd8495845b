"""Segments of small tables: which of them count, and how they are compacted."""

from pathlib import Path

import polars as pl

from loganalyst.store.columns import READ, schema
from loganalyst.store.tablefiles import Folder, first, last


def add(folder: Folder, *runs: str, path: str = "p") -> None:
    """A batch of runs, as a reading writes it."""
    rows = pl.DataFrame({"run_id": list(runs), "path": path}, schema_overrides={"run_id": pl.String})
    sources = pl.DataFrame({"run_id": list(runs), "path": [f"{path}.csv"] * len(runs)})
    folder.append(READ, {name: {"runs": [rows], "sources": [sources]}.get(name, []) for name in READ})


def make_folder(path: Path, **limits: int) -> Folder:
    (path / "tables").mkdir(parents=True)
    return Folder(path, **limits)


def test_the_newest_rows_count(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    add(folder, "a", "b", path="old")
    add(folder, "a", path="new")

    assert sorted(folder.scan("runs").select("run_id", "path").collect().rows()) == [("a", "new"), ("b", "old")]
    assert sorted(folder.scan("sources").select("run_id", "path").collect().rows()) == [
        ("a", "new.csv"),
        ("b", "old.csv"),
    ]
    assert folder.scan("runs").collect_schema() == schema("runs")


def test_many_segments_are_compacted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, max_segments=2)
    for i in range(3):
        add(folder, "a", f"b{i}")
    (segment,) = folder.segments("runs")

    assert first(segment) < last(segment)
    assert sorted(folder.scan("runs").collect()["run_id"]) == ["a", "b0", "b1", "b2"]
    assert pl.read_parquet(segment).height == 4  # the old rows of `a` are gone


def test_a_full_segment_is_kept(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, max_segments=2, full=1)
    for i in range(4):
        add(folder, f"b{i}")

    assert len(folder.segments("runs")) == 4


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


def test_the_path_of_a_big_table() -> None:
    assert Folder(Path("s")).run_file("points", "3f9a") == Path("s/runs/3f/run_id=3f9a/points.parquet")
