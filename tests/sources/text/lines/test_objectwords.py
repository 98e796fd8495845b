"""The words of objects in structured logs."""

import json
from pathlib import Path

import polars as pl
import pytest

from loganalyst.model import Tables
from loganalyst.sources.formats import formats
from loganalyst.sources.text.lines import objectwords


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"event": "stop", "status": "failed", "reason": "peer 3 is gone"}, "stop: FAILED: peer 3 is gone"),
        ({"level": "Fatal", "msg": "no memory left"}, "ERROR no memory left"),
        ({"event": "train.done", "state": "ok", "seconds": 3.5}, "train done: OK"),
        ({"step": 3, "error": None, "status": {"a": 1}}, ""),
    ],
)
def test_words(found: dict[str, object], said: str) -> None:
    assert objectwords.words(pl.Series([json.dumps(found)])).to_list() == [said]


def test_an_object_with_a_result_does_not_speak() -> None:
    held = [{"event": "step", "train_loss": 0.5}, {"event": "done", "step": 9}, {"step": 3}]

    assert objectwords.speaks(pl.Series([json.dumps(one) for one in held])).to_list() == [False, True, False]


@pytest.mark.parametrize(
    ("last", "status", "label"),
    [
        ({"event": "done"}, "finished", None),
        ({"event": "stop", "status": "failed", "reason": "worker 3 lost heartbeat"}, "unknown", "node_failure"),
        ({"step": 31, "loss": 0.5}, None, None),  # no words: read as numbers alone
    ],
)
def test_the_last_words_of_a_log_of_objects(
    tmp_path: Path, last: dict[str, object], status: str | None, label: str | None
) -> None:
    path = tmp_path / "train.jsonl"
    rows = [{"step": n, "loss": 2 - n / 40} for n in range(31)]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, last]))
    (json_reader,) = (module for module in formats() if module.NAME == "json")
    tables = Tables.concat(json_reader.read(path))

    assert tables.sessions["status"].to_list() == ([status] if status else [])
    assert tables.lines.filter(pl.col("part") == "confirm")["label"].to_list() == ([label] if label else [])
    assert tables.points.filter(pl.col("metric") == "loss").height == 31 + ("loss" in last)


def test_a_logger_keeps_the_words_beside_its_message(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    rows = [
        {"ts": f"2024-01-01T00:00:{n:02}Z", "level": "info", "event": "step", "loss": 2 - n / 40} for n in range(31)
    ]
    fault = {
        "ts": "2024-01-01T00:01:00Z",
        "level": "error",
        "event": "save_failed",
        "message": "No space left on device",
    }
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, fault]))
    (json_reader,) = (module for module in formats() if module.NAME == "json")
    tables = Tables.concat(json_reader.read(path))

    assert tables.lines.filter(pl.col("label") == "disk_full")["line"].to_list() == [32]
