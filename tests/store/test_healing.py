"""Repair finds what is lost, what is gone and what can be forgotten; whole stores are repaired in test_damage.py."""

from pathlib import Path

from loganalyst import Store
from loganalyst.store.healing import Healing, heal


def make_store(root: Path) -> Store:
    for name in ("a", "b"):
        (root / "runs" / name).mkdir(parents=True)
        rows = "".join(f"{i},{1 / (i + 1)}\n" for i in range(40))
        (root / "runs" / name / "metrics.csv").write_text("step,loss\n" + rows)
    store = Store(root / "store")
    store.ingest([root / "runs"])
    return store


def test_a_sound_store_needs_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)

    assert heal(store._folder, dict, lambda: None) == Healing()


def test_runs_that_still_exist_are_read_again_and_others_leave_the_store(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    paths = dict(store.runs.select("path", "run_id").collect().iter_rows())
    places = {id_: (path, True) for path, id_ in paths.items()}
    (file,) = (store.path / "tables/runs").glob("*.parquet")
    file.write_bytes(b"")
    (tmp_path / "runs/b/metrics.csv").unlink()
    (tmp_path / "runs/b").rmdir()
    found = heal(store._folder, lambda: places, lambda: None)

    assert found.lost == {paths[str(tmp_path / "runs/a")]}
    assert found.gone == {paths[str(tmp_path / "runs/b")]}
    assert [fault.partition(":")[0] for fault in found.faults] == [str(tmp_path / "runs/b"), str(file)]


def test_a_damaged_ledger_forgets_all_runs(tmp_path: Path) -> None:
    store, forgotten = make_store(tmp_path), list[bool]()
    (store.path / "tables/ledger").write_bytes(b"rubbish")
    found = heal(store._folder, dict, lambda: forgotten.append(True))

    assert forgotten == [True]
    assert "every run is read again" in found.faults[0]
    assert store.points.collect().height == 80  # sound segments stay
