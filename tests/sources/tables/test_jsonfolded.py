"""Histories in JSON that are not lists by metric."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from loganalyst import pipeline
from loganalyst.errors import SourceError

EPOCHS = range(5)
LOSS = [2.0, 1.5, 1.2, 1.1, 1.05]
ROWS = [{"epoch": e, "loss": loss, "lr": 0.1} for e, loss in zip(EPOCHS, LOSS, strict=True)]
LAYOUTS: dict[str, Any] = {
    "lists": {"epoch": list(EPOCHS), "loss": LOSS, "lr": [0.1] * 5},
    "lists in a history": {"history": {"epoch": list(EPOCHS), "loss": LOSS, "lr": [0.1] * 5}, "seed": 3},
    "rows by epoch": {f"epoch_{e}": {"loss": loss, "lr": 0.1} for e, loss in zip(EPOCHS, LOSS, strict=True)},
    "rows by number": {str(row["epoch"]): row for row in ROWS},
    "columns by index": {key: {str(i): row[key] for i, row in enumerate(ROWS)} for key in ROWS[0]},
}


def test_columns_by_index_with_values_for_some_rows(tmp_path: Path) -> None:
    """A time that was measured twice, and a score that never was, cost no value of the loss."""
    losses = {str(i): loss for i, loss in enumerate(LOSS)}
    found = points(tmp_path / "history.json", {"loss": losses, "accuracy": {}, "time": {"1": 58.3, "4": 53.1}})

    assert found.filter(metric="loss")["value"].to_list() == LOSS
    assert found.filter(metric="time").select("step", "value").rows() == [(1, 58.3), (4, 53.1)]


def test_the_index_of_columns_is_their_step_where_it_is_no_count(tmp_path: Path) -> None:
    found = points(tmp_path / "history.json", {"loss": {str(50 * i): loss for i, loss in enumerate(LOSS)}})

    assert found["step"].to_list() == [0, 50, 100, 150, 200]


BY_NUMBER = {str(e): loss for e, loss in zip(EPOCHS, LOSS, strict=True)}


def points(path: Path, data: Any) -> pl.DataFrame:
    path.write_text(json.dumps(data))
    return pipeline.read_run(path).points.select("metric", "step", "epoch", "value").sort("metric", "step")


@pytest.mark.parametrize("name", ["history.json", "metrics.json"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_tells_the_same(layout: str, name: str, tmp_path: Path) -> None:
    found = points(tmp_path / name, LAYOUTS[layout])

    assert found.filter(metric="loss")["value"].to_list() == LOSS
    assert found.filter(metric="loss")["epoch"].to_list() == [float(e) for e in EPOCHS]
    assert found["metric"].unique().sort().to_list() == ["loss", "lr"]


def test_the_rows_of_two_parts_stand_at_their_own_epochs(tmp_path: Path) -> None:
    """The second part is held out every other epoch."""
    data = {"train": ROWS, "val": [{"epoch": e, "loss": 3.0 + e} for e in (1, 3)]}
    found = points(tmp_path / "log.json", data)

    assert found.filter(metric="train/loss")["value"].to_list() == LOSS
    assert found.filter(metric="val/loss").select("step", "value").rows() == [(1, 4.0), (3, 6.0)]


def test_rows_without_a_counter_are_counted(tmp_path: Path) -> None:
    found = points(
        tmp_path / "log.json", {"train": [{"loss": x} for x in LOSS], "test": [{"loss": 1.0}, {"epoch": "x"}]}
    )

    assert found.filter(metric="train/loss").select("step", "value").rows() == list(enumerate(LOSS))
    assert found.filter(metric="test/loss").select("step", "value").rows() == [(0, 1.0)]


@pytest.mark.parametrize(
    "data",
    [
        {"history": ROWS},
        {"lr": 0.1, "epochs": 3, "epoch_logs": ROWS, "best": {"epoch": 2}},
        {"results": {"model": "cnn", "train": {"rows": ROWS}}},
    ],
)
def test_rows_that_count_under_a_key(data: Any, tmp_path: Path) -> None:
    """Beside settings, or in objects: the metrics have the names in the rows. The folder of the file is found."""
    (tmp_path / "run" / "results").mkdir(parents=True)
    (tmp_path / "run" / "results" / "summary_history.json").write_text(json.dumps(data))
    found = pipeline.read_run(tmp_path / "run").points

    assert found.filter(metric="loss")["value"].to_list() == LOSS
    assert found["metric"].unique().sort().to_list() == ["loss", "lr"]


def test_rows_of_parts_with_measures_of_any_name(tmp_path: Path) -> None:
    """As many rows for each part, with the same keys: samples of data have seldom both."""
    rows = [{"total": x, "seg": x / 2, "cls": x / 2} for x in LOSS]
    found = points(tmp_path / "log.json", {"train": rows, "dev": rows})

    assert found.filter(metric="dev/total").select("step", "value").rows() == list(enumerate(LOSS))
    assert found["metric"].n_unique() == 6


@pytest.mark.parametrize(
    "other",
    [
        [{"total": 1.0}] * 4,  # fewer
        [{"total": 1.0, "id": 3}] * 5,
        [{"total": "a"}] * 5,
        [{"x": 1.0}] * 5,
    ],
)
def test_samples_of_parts_are_no_course(other: list[Any], tmp_path: Path) -> None:
    own = [{key: 1.5 for key in other[0] if key != "id"}] * 5
    (tmp_path / "data.json").write_text(json.dumps({"train": own, "test": other}))

    assert not pipeline.read_run(tmp_path / "data.json").points.height


def test_rows_of_two_trainings_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"model_a": ROWS, "model_b": ROWS}))

    assert pipeline.read_run(path).points.height == 0


def test_a_column_may_have_values_for_some_of_the_steps(tmp_path: Path) -> None:
    """A file in a folder below the run that has only this one."""
    data = {"step": [10, 20, 30], "loss": [2.0, 1.5, 1.2], "dev_score": {"10": 0.25, "30": 0.5}, "note": {"a": 1}}
    (tmp_path / "run" / "results").mkdir(parents=True)
    (tmp_path / "run" / "results" / "my_metrics.json").write_text(json.dumps(data))
    found = pipeline.read_run(tmp_path / "run").points.sort("metric", "step")

    assert found.select("metric", "step", "value").rows() == [
        *[("dev_score", 10, 0.25), ("dev_score", 30, 0.5)],
        *[("loss", 10, 2.0), ("loss", 20, 1.5), ("loss", 30, 1.2)],
    ]


def test_a_long_one_is_told_by_its_opening(tmp_path: Path) -> None:
    data = {f"epoch_{e}": {"loss": 1 / (e + 1), "note": "x" * 100} for e in range(2000)}
    found = points(tmp_path / "history.json", data)

    assert found.select("metric", "step").unique().height == 2000


@pytest.mark.parametrize(
    "data",
    [
        {"0": {"id": 3, "x": 1.5}, "1": {"id": 4, "x": 2.5}, "2": {"id": 5, "x": 2.0}},
        {"images": [{"id": 1}], "annotations": [{"id": 2}, {"id": 3}, {"id": 4}]},
        {"train": [{"image": 1}, {"image": 2}, {"image": 3}]},
        {"0": {"loss": 1.0}, "1": 3, "2": {"loss": 2.0}},
        {"0": {"label": 3, "score": 0.5}, "1": {"label": 4, "score": 0.9}, "2": {"label": 5, "score": 0.8}},
    ],
)
def test_what_is_no_history_is_none(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(data))
    found = 0
    with suppress(SourceError):
        found = pipeline.read_run(path).points.height
    assert found == 0


@pytest.mark.parametrize("key", ["history", "training_history", "epochs"])
def test_nested_rows_under_a_key(key: str, tmp_path: Path) -> None:
    """Beside facts, the test at the end, and its confusion matrix."""
    rows = [{"epoch": e, "train": {"loss": x}, "val": {"loss": x + 1, "acc": 0.5}} for e, x in enumerate(LOSS)]
    data = {"model": "net", "classes": ["a", "b"], "test": {"loss": 0.5, "matrix": [[9, 1], [2, 8]]}, key: rows}
    found = points(tmp_path / "metrics.json", data)

    assert found.filter(metric="train/loss").select("step", "value").rows() == list(enumerate(LOSS))
    assert found.filter(metric="val/loss")["value"].to_list() == [x + 1 for x in LOSS]
    assert found.filter(metric="val/acc")["value"].to_list() == [0.5] * 5


@pytest.mark.parametrize("name", ["training_stats.json", "stats.json", "x/8d7a4c1e.json", "report.json"])
def test_rows_of_a_training_are_found_in_a_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    rows = [{"epoch": e, "train loss": x, "took": "0:01:20"} for e, x in enumerate(LOSS)]
    (tmp_path / name).write_text(json.dumps(rows))
    found = pipeline.read_run(tmp_path).points.sort("metric", "step", descending=[True, False])

    assert found.select("metric", "step", "value").rows() == [
        *(("train loss", e, x) for e, x in enumerate(LOSS)),
        *(("took", e, 80.0) for e in range(len(LOSS))),
    ]


@pytest.mark.parametrize(
    "files",
    [
        ["a/x.json", "b/x.json"],  # two runs: which one?
        [f"{k}/x.json" for k in range(12)],
        ["a/b/c/d/.hidden/x.json"],
    ],
)
def test_other_folders_are_not_searched(files: list[str], tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(json.dumps([{"epoch": e, "loss": x} for e, x in enumerate(LOSS)]))

    with pytest.raises(SourceError):
        pipeline.read_run(tmp_path)


@pytest.mark.parametrize("name", ["TrainLoss", "loss_per_epoch", "val_losses"])
def test_values_by_number_in_a_file_that_is_named_after_a_metric(name: str, tmp_path: Path) -> None:
    found = points(tmp_path / f"{name}.json", BY_NUMBER)

    assert found.select("metric", "step", "value").rows() == [
        (name, e, loss) for e, loss in zip(EPOCHS, LOSS, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("loss_weights", BY_NUMBER),
        ("label_map", BY_NUMBER),
        ("scores", {"17": 0.5, "4": 0.25, "90": 0.75}),  # of samples
        ("accuracy", {"1": 0.5, "2": "x", "3": 0.5}),
    ],
)
def test_other_values_by_number_are_no_course(name: str, data: Any, tmp_path: Path) -> None:
    with suppress(SourceError):
        assert not points(tmp_path / f"{name}.json", data).height


def test_rows_by_number_in_a_file_that_is_named_after_a_metric(tmp_path: Path) -> None:
    found = points(tmp_path / "ValAccuracy.json", {str(e): {"bbox_map": x} for e, x in enumerate(LOSS)})

    assert found.select("metric", "step", "value").rows() == [("bbox_map", *row) for row in enumerate(LOSS)]


def test_lists_of_rows_beside_a_table_are_columns(tmp_path: Path) -> None:
    """A value for each client. Longer rows, and lists of another length, are none."""
    many = {"client_acc": [[x, x / 2] for x in LOSS], "wide": [[1.0] * 30] * 5, "points": [[1.0, 2.0]] * 3}
    found = points(tmp_path / "history.json", {"loss": LOSS, "val_loss": LOSS, "lr": LOSS, **many})

    assert found.filter(metric="client_acc/1")["value"].to_list() == [x / 2 for x in LOSS]
    assert found["metric"].unique().sort().to_list() == ["client_acc/0", "client_acc/1", "loss", "lr", "val_loss"]
