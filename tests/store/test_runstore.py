"""The store is a cache of readings and diagnoses, which any Parquet reader can open."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from loganalyst import Store
from loganalyst.errors import StoreError
from loganalyst.store import runreading, segmentfolder, tablefiles

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

    assert store.ingest([run]) == {str(run): "read"}
    assert store.ingest([run]) == {str(run): "unchanged"}

    make_run(tmp_path, "a", GOOD + "40,0.1\n")

    assert store.ingest([run]) == {str(run): "read"}
    assert store.points.collect().height == 41


def test_the_newest_rows_of_a_run_win(tmp_path: Path) -> None:
    """A run that was written twice has one row in each table."""
    run, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    store.ingest([run])
    make_run(tmp_path, "a", GOOD + "40,0.1\n")
    store.ingest([run])

    assert store.runs.collect().height == 1
    assert store.features.select("train_loss_points").collect().item() == 41
    assert store.diagnoses.collect().height == 1


def test_one_bad_run_never_stops_the_rest(tmp_path: Path) -> None:
    """A run that cannot be read is reported by its path."""
    good, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    (tmp_path / "b").mkdir()
    done = store.ingest([tmp_path / "b", good])

    assert done[str(good)] == "read"
    assert "empty directory" in done[str(tmp_path / "b")]


def test_many_segments_become_one(tmp_path: Path) -> None:
    """Above 32 segments a small table is compacted, and nothing is lost."""
    store = Store(tmp_path / "store")
    for i in range(34):
        store.ingest([make_run(tmp_path, f"run{i:02}")])

    assert len(list((tmp_path / "store/tables/runs").glob("*.parquet"))) == 2  # 33 in one, and the last
    assert store.runs.collect()["run_id"].n_unique() == 34


def test_a_run_is_found_in_any_segment(tmp_path: Path) -> None:
    """Runs that were read before the compaction, after it, and twice."""
    store = Store(tmp_path / "store")
    store._folder = tablefiles.Folder(store.path, max_segments=8)
    paths = [make_run(tmp_path, f"run{i:02}") for i in range(11)]
    for path in paths:
        store.ingest([path])
    make_run(tmp_path, "run01", GOOD + "40,0.1\n")
    store.ingest([paths[1]])
    ids = dict(store.runs.select("name", "run_id").collect().iter_rows())

    assert ["-" in f.stem for f in (tmp_path / "store/tables/sources").glob("*.parquet")].count(True) == 1
    for name, rows in {"run00": 40, "run01": 41, "run10": 40}.items():
        found = store.run(ids[name])
        assert (found.name, [s.points for s in found.sources], found.points.height) == (name, [rows], rows)


@pytest.mark.parametrize(("more", "most"), [(1 << 40, 4), (150, 8), (-100, 24)])
def test_full_segments_are_left_as_they_are(tmp_path: Path, more: int, most: int) -> None:
    """At any size of a full segment (this much more than one batch), every run is found with its newest rows."""
    store = Store(tmp_path / "store")
    store.ingest([make_run(tmp_path, "run0")])
    (first,) = (tmp_path / "store/tables/runs").glob("*.parquet")
    store._folder = tablefiles.Folder(store.path, max_segments=3, full=first.stat().st_size + more)
    for length in range(1, 4):
        for i in range(8):
            store.ingest([make_run(tmp_path, f"run{i}", GOOD + f"{40 + length},0.1\n" * length)])
    runs = store.runs.collect().sort("name")

    assert runs.select("name", "points").rows() == [(f"run{i}", 43) for i in range(8)]
    assert sorted(store.sources.collect()["run_id"]) == sorted(runs["run_id"])
    assert len(tablefiles.Folder(store.path).segments("runs")) <= most + 1


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
    """Every table can be read before anything was written."""
    store = Store(tmp_path / "store")

    assert store.points.collect().height == 0
    assert store.findings.collect().columns[0] == "run_id"


def test_a_file_is_no_store(tmp_path: Path) -> None:
    """A path that cannot be a store is one clear error."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(StoreError, match="cannot be used as a store"):
        Store(tmp_path / "file")


def test_a_folder_of_other_files_is_no_store(tmp_path: Path) -> None:
    """A run's folder that is taken for the store is refused, and nothing is written into it."""
    run = make_run(tmp_path, "a")

    with pytest.raises(StoreError, match="holds other files"):
        Store(run)
    assert [f.name for f in run.iterdir()] == ["metrics.csv"]


def test_a_write_during_the_reading_counts_as_a_change(tmp_path: Path, monkeypatch) -> None:
    """A file that grows between its reading and the store's note of it is read again the next time."""
    run, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    read = runreading.read

    def slow(task: runreading.Task) -> runreading.Done:
        done = read(task)
        make_run(tmp_path, "a", GOOD + "40,0.1\n")
        return done

    monkeypatch.setattr(runreading, "read", slow)
    store.ingest([run])
    monkeypatch.undo()

    assert store.ingest([run]) == {str(run): "read"}
    assert store.ingest([run]) == {str(run): "unchanged"}
    assert store.points.collect().height == 41


def test_a_run_is_the_same_by_any_path(tmp_path: Path, monkeypatch) -> None:
    """Relative or absolute, an unchanged run is not read again, and a changed one counts once."""
    run, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    store.ingest([run])
    monkeypatch.chdir(tmp_path)

    assert store.ingest(["a"]) == {str(run): "unchanged"}

    make_run(tmp_path, "a", GOOD + "40,0.1\n")
    store.ingest(["a", run])

    assert store.runs.collect().height == 1


def test_a_table_asked_for_before_compaction_can_be_read_after_it(tmp_path: Path) -> None:
    """Readers need no lock: compacted segments stay until the next write, and count once."""
    store = Store(tmp_path / "store")
    store._folder = tablefiles.Folder(store.path, max_segments=8)
    for i in range(8):
        store.ingest([make_run(tmp_path, f"run{i:02}")])
    asked = store.sources
    store.ingest([make_run(tmp_path, "run08")])

    assert asked.collect().height == 8
    assert store.sources.collect().height == 9


def test_a_batch_that_was_cut_off_is_not_seen(tmp_path: Path, monkeypatch) -> None:
    """A crash halfway leaves what was known before, and the run is read again."""
    run, store = make_run(tmp_path, "a"), Store(tmp_path / "store")
    store.ingest([run])
    make_run(tmp_path, "a", GOOD + "40,0.1\n")
    move = segmentfolder.move

    def cut(file: Path, to: Path) -> None:
        if to.parent.name == "runs":
            raise OSError(28, "No space left on device")
        move(file, to)

    monkeypatch.setattr(segmentfolder, "move", cut)
    with pytest.raises(StoreError, match="No space left"):
        store.ingest([run])
    monkeypatch.undo()

    assert store.runs.collect()["points"].to_list() == [40]
    assert store.sources.collect()["points"].to_list() == [40]
    assert store.ingest([run]) == {str(run): "read"}
    assert store.sources.collect()["points"].to_list() == [41]


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """Nothing is lost and nothing counts twice where several processes write and compact."""
    runs = [[str(make_run(tmp_path, f"p{p}run{i:02}")) for i in range(20)] for p in range(2)]
    code = "import sys; from loganalyst import Store; s = Store(sys.argv[1]); [s.ingest([r]) for r in sys.argv[2:]]"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "store"), *part]) for part in runs]

    assert [w.wait() for w in writers] == [0, 0]
    assert Store(tmp_path / "store").runs.collect()["run_id"].n_unique() == 40
    assert Store(tmp_path / "store").sources.collect().height == 40
