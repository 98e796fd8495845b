"""The store is a cache: what was read and found, inspectable with any Parquet reader."""

from pathlib import Path

import polars as pl
import pytest

from loganalyst import Store
from loganalyst.errors import StoreError

GOOD = "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(40))


def make_run(root: Path, name: str, text: str = GOOD) -> Path:
    (root / name).mkdir(parents=True, exist_ok=True)
    (root / name / "metrics.csv").write_text(text)
    return root / name


def test_points_come_back_as_they_were(tmp_path: Path) -> None:
    """NaN, infinity and NULL survive the store."""
    run = make_run(tmp_path, "a", "step,loss\n0,1.5\n1,nan\n2,inf\n3,\n")
    store = Store(tmp_path / "store")
    store.ingest([run])

    assert [str(v) for v in store.points.sort("step").collect()["value"]] == ["1.5", "nan", "inf"]


def test_unchanged_runs_are_not_read_again(tmp_path: Path) -> None:
    """The second time nothing is read; a changed file is."""
    run, store = make_run(tmp_path, "a"), Store(tmp_path / "store")

    assert store.ingest([run]) == {str(run): "new"}
    assert store.ingest([run]) == {str(run): "unchanged"}

    make_run(tmp_path, "a", GOOD + "40,0.1\n")

    assert store.ingest([run]) == {str(run): "new"}
    assert store.points.collect().height == 41


def test_the_newest_rows_of_a_run_win(tmp_path: Path) -> None:
    """A run written twice has one row a table."""
    run, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    store.ingest([run])
    make_run(tmp_path, "a", GOOD + "40,0.1\n")
    store.ingest([run])

    assert store.runs.collect().height == 1
    assert store.features.select("train_loss_points").collect().item() == 41
    assert store.diagnoses.collect().height == 1


def test_one_bad_run_never_stops_the_rest(tmp_path: Path) -> None:
    """What cannot be read is told by path."""
    good, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    (tmp_path / "b").mkdir()
    done = store.ingest([tmp_path / "b", good])

    assert done[str(good)] == "new"
    assert "empty directory" in done[str(tmp_path / "b")]


def test_many_segments_become_one(tmp_path: Path) -> None:
    """Above 32 segments a small table is compacted, and nothing is lost."""
    store = Store(tmp_path / "store")
    for i in range(34):
        store.ingest([make_run(tmp_path, f"run{i:02}")])

    assert len(list((tmp_path / "store/features").glob("*.parquet"))) <= 32
    assert store.features.collect()["run_id"].n_unique() == 34


def test_big_tables_open_by_path(tmp_path: Path) -> None:
    """One run's points are one file whose place follows from the run's id."""
    store = Store(tmp_path / "store")
    store.ingest([make_run(tmp_path, "a")])
    (run_id,) = store.runs.collect()["run_id"]

    assert pl.read_parquet(store.run_file("points", run_id)).height == 40


def test_witnesses_are_kept(tmp_path: Path) -> None:
    """A feature's value can be traced to metric, step, file and line."""
    store = Store(tmp_path / "store")
    store.ingest([make_run(tmp_path, "a", GOOD + "40,nan\n")])
    seen = store.feature_sources.filter(feature="train_loss_nonfinite_step").collect().row(0, named=True)

    assert (seen["metric"], seen["step"], seen["file"], seen["line"]) == ("loss", 40, "metrics.csv", 42)


def test_an_empty_store_has_tables(tmp_path: Path) -> None:
    """Every table can be asked for before anything was written."""
    store = Store(tmp_path / "store")

    assert store.points.collect().height == 0
    assert store.findings.collect().columns[0] == "run_id"


def test_a_file_is_no_store(tmp_path: Path) -> None:
    """A path that cannot be a store is one clear error."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(StoreError, match="cannot be used as a store"):
        Store(tmp_path / "file")
