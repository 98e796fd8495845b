"""Comet's offline archive, as comet_ml 3.58 wrote it."""

import json
import zipfile
from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.ingest import ingest
from loganalyst.sources.offline import comet_reader

FACTS = {"offline_id": "8350", "start_time": 1795667813756, "stop_time": 1795667816414}
AT = 1795667814138


def metric(name: str, value: object, step: int | None, epoch: int | None = None, **more: str) -> dict[str, object]:
    """A message about a metric."""
    found = {"epoch": epoch, "metricName": name, "metricValue": value, "step": step}
    return {"payload": {**more, "local_timestamp": AT, "metric": found}, "type": "metric_msg"}


MESSAGES: list[object] = [
    {"payload": {"installed_packages": ["a==1"]}, "type": "installed_packages"},
    {"payload": {"param": {"paramName": "m|d", "paramValue": 3, "source": "manual"}}, "type": "parameter_msg"},
    {"payload": {"param": {"paramName": "api_key", "paramValue": "abcdefgh"}}, "type": "parameter_msg"},
    {"payload": {"param": {"paramName": "curr_step", "paramValue": 10}}, "type": "parameter_msg"},
    {"payload": {"key": "Name", "value": "my run"}, "type": "log_other"},
    metric("sys.load.avg", 13.5, None),
    metric("train/loss", 2.0, 0, 0),
    metric("train/loss", "NaN", 10, 1),
    metric("loss", 0.5, 10, 1, context="validate"),
    {"payload": {"output": "ValueError: boom\n", "stderr": True}, "type": "standard_output"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "8350.zip"
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("experiment.json", json.dumps(FACTS))
        archive.writestr("messages.json", "".join(f"{json.dumps(message)}\n" for message in MESSAGES))
    return found


def test_a_run_is_read_value_for_value(path):
    found = Tables.concat(comet_reader.read(path))

    assert comet_reader.sniff(path, path.read_bytes()) == 0.9
    assert str(found.points.select("metric", "step", "epoch", "value").rows()) == (
        "[('system/load.avg', None, None, 13.5), ('train/loss', 0, 0.0, 2.0), ('train/loss', 10, 1.0, nan), "
        "('validate_loss', 10, 1.0, 0.5)]"
    )
    assert found.points["time"].dt.timestamp("ms").unique().to_list() == [AT]
    assert found.config.select("key", "value").rows() == [
        ("m.d", "3"), ("api_key", "(left out: looks like a secret)"), ("comet.Name", "my run"),
    ]  # fmt: skip
    assert found.sessions["started"].dt.timestamp("ms").to_list() == [FACTS["start_time"]]
    assert found.sessions["ended"].dt.timestamp("ms").to_list() == [FACTS["stop_time"]]
    assert found.gaps.height == 0


def test_the_output_is_read_within_a_run(path):
    assert ingest(path).lines["text"].to_list() == ["ValueError: boom"]


def test_damage_is_a_gap(path):
    path.write_bytes(path.read_bytes()[:-30])
    found = Tables.concat(comet_reader.read(path))

    assert found.points.height == 0
    assert found.gaps["why"].to_list() == ["zip: File is not a zip file"]
