"""Segments of small tables: which of them count, and how they are compacted."""

from pathlib import Path

import polars as pl

from loganalyst.store.columns import schema
from loganalyst.store.segments import first, last
from loganalyst.store.tablefiles import Folder
from tests.store.folders import add, make_folder


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


def test_the_path_of_a_big_table() -> None:
    assert Folder(Path("s")).run_file("points", "3f9a") == Path("s/runs/3f/run_id=3f9a/points.parquet")
