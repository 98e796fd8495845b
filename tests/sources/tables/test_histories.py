"""Histories as points."""

from loganalyst.model import Tables
from loganalyst.sources.tables import histories
from loganalyst.sources.tables.jsonrows import Log


def test_lists_are_points_and_single_values_are_settings(tmp_path):
    data = {"loss": [0.5, 0.25], "val": {"loss": [0.75, 0.5]}, "batch_size": 32}

    found = Tables.concat(histories.of_lists(Log(tmp_path / "history.pkl"), data))
    assert found.points.select("metric", "step", "value").sort("metric", "step").rows() == [
        ("loss", 0, 0.5),
        ("loss", 1, 0.25),
        ("val/loss", 0, 0.75),
        ("val/loss", 1, 0.5),
    ]
    assert found.config.select("key", "number").rows() == [("history.batch_size", 32.0)]
