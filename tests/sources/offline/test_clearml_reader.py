"""ClearML's offline session, as clearml 2.1 wrote it: in a folder, and zipped."""

import json
import zipfile
from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.formats import reader
from loganalyst.sources.ingest import ingest
from loganalyst.sources.offline import clearml_reader

AT = 1795667834865


def scalar(metric: str, variant: str, value: float, step: int) -> dict[str, object]:
    """An event of a scalar."""
    facts = {"timestamp": AT, "type": "training_stats_scalar", "task": "offline-9420", "iter": step}
    return {**facts, "metric": metric, "variant": variant, "value": value, "method": "get"}


FILES = {
    "metrics.jsonl": [
        [scalar("loss", "train", 2.0, 0), scalar("loss", "train", 1.5, 10)],
        [scalar("lr", "lr", 0.1, 10), scalar(":monitor:gpu", "gpu_0_utilization", 50.0, 10)],
    ],
    "log.jsonl": [[{"timestamp": AT, "type": "log", "task": "offline-9420", "msg": "ValueError: boom"}]],
    "task.json": [{
        "hyperparams": {"General": {"m/d": {"name": "m/d", "type": "int", "value": "3"}}}, "offline_folder": "/x",
    }],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "offline-9420"
    found.mkdir()
    for name, lines in FILES.items():
        (found / name).write_text("".join(f"{json.dumps(line)}\n\n" for line in lines), encoding="utf-8")
    return found


def content(run: object) -> tuple[object, ...]:
    """What is known about a run."""
    tables = [getattr(run, name) for name in ("points", "config", "lines")]
    points, config, lines = tables
    return (
        sorted(points.select("metric", "step", "value").rows()),
        config.select("key", "value").rows(),
        lines["text"].to_list(),
    )


def test_a_folder_and_its_archive_hold_the_same_run(folder):
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for name in FILES:
            archive.write(folder / name, name)
    expected = (
        [("loss/train", 0, 2.0), ("loss/train", 10, 1.5), ("lr", 10, 0.1), ("system/gpu/gpu_0_utilization", 10, 50.0)],
        [("m.d", "3")],
        ["ValueError: boom"],
    )

    assert content(ingest(folder)) == expected
    assert content(ingest(folder.with_suffix(".zip"))) == expected


def test_each_file_is_recognised(folder):
    assert {reader(file, file.read_bytes()).NAME for file in folder.iterdir()} == {"clearml"}
    assert clearml_reader.sniff(Path("metrics.jsonl"), b'{"loss": 0.5}\n') == 0.0


def test_broken_lines_are_counted(folder):
    (folder / "metrics.jsonl").write_text(
        '[{"timestamp": 1, "type"\n' + json.dumps([scalar("a", "b", 1.5, 3)]), encoding="utf-8"
    )
    found = Tables.concat(clearml_reader.read(folder / "metrics.jsonl"))

    assert found.points.select("metric", "step", "value").rows() == [("a/b", 3, 1.5)]
    assert found.gaps["why"].to_list() == ["1 records hold no number, or are not JSON"]
