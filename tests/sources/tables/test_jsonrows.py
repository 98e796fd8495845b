"""JSON objects as points."""

import json
from pathlib import Path

import numpy as np

from loganalyst.model import Tables
from loganalyst.sources.tables.jsonrows import Log

PATH = Path("log.jsonl")


def test_records():
    """Nested names, a part of the data as prefix, settings once, and media as a gap."""
    log = Log(PATH)
    records = [
        {"step": 5, "mode": "train", "loss": {"a": 0.5}, "config": {"lr": 0.1}},
        {"step": 6, "mode": "val", "loss": {"a": 0.25}, "config": {"lr": 0.2}, "image": {"_type": "x"}},
    ]
    found = Tables.concat(log.records(records, places=np.array([0, 2]), line=10))

    assert found.points.select("metric", "step", "value", "line").rows() == [
        ("train/loss/a", 5, 0.5, 10),
        ("val/loss/a", 6, 0.25, 12),
    ]
    assert found.config.select("key", "value").rows() == [("lr", "0.1")]
    assert log.gap_rows().gaps["why"].to_list() == ["1 values are media, or lists longer than 64, the first 'image'"]


def test_lists():
    """One row per index."""
    found = Tables.concat(Log(PATH).lists({"epoch": [1, 2], "loss": [0.5, None, 0.25]}))

    assert found.points.select("metric", "step", "value").rows() == [("loss", 1, 0.5), ("loss", 2, 0.25)]


def test_adjacent_gaps_are_one():
    """With all their bytes, and the line breaks between."""
    log = Log(PATH)
    log.broken(2, 10, 4)
    log.broken(3, 15, 5)
    log.broken(9, 60, 1)

    assert log.gap_rows().gaps.select("offset", "bytes", "why").rows() == [
        (10, 10, "not a JSON object in line 2 to 3"),
        (60, 1, "not a JSON object in line 9"),
    ]


def test_state():
    """A restored log continues with the same axes."""
    log = Log(PATH)
    list(log.records([{"epoch": 1, "step": 0, "loss": 0.5}, {"epoch": 1, "step": 1, "loss": 0.4}]))
    again = Log.restored(PATH, json.loads(json.dumps(log.state())))

    assert json.dumps(again.state()) == json.dumps(log.state())
