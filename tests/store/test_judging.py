"""Runs that were read are judged once, and again when they change."""

from pathlib import Path

import polars as pl

from loganalyst import Store
from loganalyst.store import judging
from loganalyst.store.batch import Batch


def make_store(root: Path) -> Store:
    for name in ("a", "b"):
        (root / "runs" / name).mkdir(parents=True)
        (root / "runs" / name / "metrics.csv").write_text(
            "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(40))
        )
    store = Store(root / "store")
    store.ingest([root / "runs"])
    return store


def test_only_the_chosen_runs_are_judged(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    first, second = sorted(store.runs.collect()["run_id"])
    batch = Batch(lambda done: judging.write(store._folder, done))
    with store._writer.writing(store._folder):
        found = list(judging.judge_all(store._folder, {first}, into=batch, processes=1, limits=None, workers=None))

    assert [(outcome.what, outcome.run) for outcome in found] == [("judged", first)]
    assert judging.unjudged(store._folder, None)["run_id"].to_list() == [second]
    assert judging.unjudged(store._folder, {first}).height == 0


def test_a_run_that_was_read_again_is_judged_again(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    store.diagnose()
    with (tmp_path / "runs/a/metrics.csv").open("a") as file:
        file.write("40,nan\n")
    store.ingest([tmp_path / "runs"])
    names = dict(store.runs.select("run_id", "name").collect().iter_rows())

    assert [names[id_] for id_ in judging.unjudged(store._folder, None)["run_id"]] == ["a"]
    assert store.features.filter(pl.col("train_loss_nonfinite_step") == 40).collect().height == 1
