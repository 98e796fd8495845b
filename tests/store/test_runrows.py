"""A run as rows of the store, and back."""

from pathlib import Path

import polars as pl

from loganalyst import Store, read_run
from loganalyst.store import runrows
from loganalyst.store.columns import READ, schema


def make_run(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "metrics.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(40)))
    (root / "config.yaml").write_text("lr: 0.1\n")
    return root


def test_a_run_comes_back(tmp_path: Path) -> None:
    """Ids that are unknown are left out."""
    path, store = make_run(tmp_path / "run"), Store(tmp_path / "store")
    store.ingest([path])
    fresh = read_run(path)
    (found,) = runrows.load(store._folder, [fresh.id, "no such id"])

    assert (found.id, found.path, found.status, found.sources) == (fresh.id, fresh.path, fresh.status, fresh.sources)
    assert found.points.equals(fresh.points)
    assert found.config.equals(fresh.config)


def test_rows_have_the_columns_of_their_tables(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run"))
    rows = runrows.rows(run, {"points": 40, "distributions": 0, "lines": 0})

    assert list(rows) == [*(name for name in READ if name not in ("sources", "runs")), "sources", "runs"]
    assert rows["runs"].columns == schema("runs").names()
    assert rows["runs"].select("formats", "points").row(0) == ("config,csv", 40)
    assert rows["config"].select("run_id", "key", "number").rows() == [(run.id, "lr", 0.1)]


def test_of_run_puts_the_id_first() -> None:
    assert runrows.of_run("ab", pl.DataFrame({"x": [1, 2]})).rows() == [("ab", 1), ("ab", 2)]
