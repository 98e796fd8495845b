"""JSON with steps and values for each metric, as Sacred and ClearML write it."""

import json

import pytest

from loganalyst.model import Tables
from loganalyst.sources.formats import reader
from loganalyst.sources.tables import curves_reader

# as sacred 0.8.7 wrote it: keys are sorted
SACRED = {
    "training.loss": {
        "steps": [0, 10, 20],
        "timestamps": ["2026-11-26T04:32:56.5", "2026-11-26T04:32:57.5", "2026-11-26T04:32:58.5"],
        "values": [2.0, float("nan"), 1.5],
    }
}
CLEARML = {
    "loss": {"train": {"name": "train", "x": [0, 5], "y": [2.0, 1.5]}, "loss": {"name": "loss", "x": [0], "y": [3]}}
}


def read(path, data: object) -> Tables:
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
    return Tables.concat(curves_reader.read(path))


def test_metrics_of_sacred(tmp_path):
    found = read(tmp_path / "metrics.json", SACRED)

    assert str(found.points.select("metric", "step", "value").rows()) == (
        "[('training.loss', 0, 2.0), ('training.loss', 10, nan), ('training.loss', 20, 1.5)]"
    )
    assert [time.second for time in found.points["time"]] == [56, 57, 58]
    assert reader(tmp_path / "metrics.json", (tmp_path / "metrics.json").read_bytes()).NAME == "jsoncurves"


def test_scalars_of_clearml(tmp_path):
    """A title and a series of the same name are one name."""
    found = read(tmp_path / "scalars.json", CLEARML)

    assert found.points.select("metric", "step", "value").rows() == [
        ("loss/train", 0, 2.0), ("loss/train", 5, 1.5), ("loss", 0, 3.0),
    ]  # fmt: skip


def test_steps_may_be_times(tmp_path):
    found = read(tmp_path / "a.json", {"loss": {"x": [1.7e12, 1.7e12 + 1000], "y": [2, 1]}})

    assert found.points["step"].to_list() == [0, 1]
    assert [time.timestamp() for time in found.points["time"]] == [1.7e9, 1.7e9 + 1]


def test_other_values_are_a_gap(tmp_path):
    found = read(tmp_path / "a.json", {**SACRED, "note": "x"})

    assert found.points.height == 3
    assert found.gaps["why"].to_list() == ["1 values are no curves of steps and values, the first 'note'"]


@pytest.mark.parametrize(
    ("opening", "sure"),
    [
        ('{"loss": {"steps": [', 0.97),
        ('{"loss": {"train": {"name": "a", "x": [', 0.97),
        ('{"loss": [0.5, 0.4]}', 0.0),
        ('{"epoch_1": {"loss": 0.5}}', 0.0),
    ],
)
def test_only_such_files_are_taken(tmp_path, opening, sure):
    assert curves_reader.sniff(tmp_path / "metrics.json", opening.encode()) == sure
