"""Neptune's offline operations, as neptune 1.14 wrote them."""

import json
from pathlib import Path

import pytest

from loganalyst.model import Tables
from loganalyst.sources.discovery import runs as discover
from loganalyst.sources.ingest import ingest
from loganalyst.sources.offline import neptune_reader

AT = 1795667825.25


def operation(kind: str, path: str, **more: object) -> str:
    """A line of the file."""
    return json.dumps({"obj": {"type": kind, "path": path.split("/"), **more}, "version": 1, "at": AT})


def logged(*values: object, step: float | None = None) -> list[dict[str, object]]:
    return [{"value": value, "step": step, "ts": AT + 1} for value in values]


LINES = [
    operation("AssignString", "sys/name", value="Untitled"),
    operation("AssignFloat", "parameters/lr", value=0.1),
    operation("UploadFileSet", "source_code/files", file_globs=["/x"]),
    operation("LogFloats", "train/loss", values=logged(2.0, step=0) + logged(float("nan"), step=10)),
    operation("LogFloats", "monitoring/f943/cpu", values=logged(50.0)),
    operation(
        "LogStrings",
        "monitoring/f943/traceback",
        values=logged("Traceback (most recent call last):", "ValueError: boom"),
    ),
    operation("AssignBool", "sys/failed", value=True),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / ".neptune" / "offline" / "run__410c__25089__r3tu" / "data-1.log"
    found.parent.mkdir(parents=True)
    found.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return found


def test_a_run_is_read_value_for_value(path):
    found = Tables.concat(neptune_reader.read(path))

    assert str(found.points.select("metric", "step", "value").rows()) == (
        "[('train/loss', 0, 2.0), ('train/loss', 10, nan), ('system/cpu', None, 50.0)]"
    )
    assert [time.timestamp() for time in found.points["time"]] == [AT + 1] * 3
    assert found.config.select("key", "value").rows() == [("parameters.lr", "0.1")]
    assert found.sessions.select("status").rows() == [("failed",)]
    assert found.sessions["started"].item().timestamp() == AT
    assert found.gaps.height == 0


def test_the_folder_of_neptune_is_walked(path, tmp_path):
    """It is hidden, as Neptune makes it."""
    (found,) = discover.runs(tmp_path)

    assert found.root.name in ("run__410c__25089__r3tu", "data-1.log")
    assert ingest(found.root).lines["text"].to_list()[-1] == "ValueError: boom"


def test_other_logs_are_not_taken(path):
    assert neptune_reader.sniff(path, path.read_bytes()) == 0.96
    assert neptune_reader.sniff(Path("data-1.log"), b'{"loss": 0.5}') == 0.0


def test_a_line_that_was_cut_is_counted(path):
    path.write_text(LINES[3] + "\n" + LINES[4][:50], encoding="utf-8")
    found = Tables.concat(neptune_reader.read(path))

    assert (found.points.height, found.gaps["why"].to_list()) == (2, ["1 records hold no number, or are not JSON"])
