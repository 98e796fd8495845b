"""Sacred's run.json: how the run ended, and its traceback. As sacred 0.8.7 wrote it."""

import json

import pytest

from loganalyst.model import Tables
from loganalyst.sources.ingest import ingest
from loganalyst.sources.sacred import reader

RUN = {
    "command": "main",
    "experiment": {"name": "t"},
    "fail_trace": [
        "Traceback (most recent call last):\n",
        '  File "r.py", line 11, in main\n    f()\n',
        "ValueError: boom\n",
    ],
    "heartbeat": None,
    "result": None,
    "start_time": "2026-11-26T04:32:56.557421",
    "status": "FAILED",
    "stop_time": "2026-11-26T04:32:57.557421",
}


def read(path, run: object = RUN) -> Tables:
    path.write_text(json.dumps(run), encoding="utf-8")
    return Tables.concat(reader.read(path))


def test_a_failed_run(tmp_path):
    found = read(tmp_path / "run.json")

    (session,) = found.sessions.iter_rows(named=True)
    assert (session["status"], session["started"].second, session["ended"].second) == ("failed", 56, 57)
    assert found.config.select("key", "value").rows() == [("sacred.command", "main"), ("sacred.status", "FAILED")]
    assert found.lines["text"].to_list()[-1] == "ValueError: boom"
    assert reader.sniff(tmp_path / "run.json", json.dumps(RUN).encode()) == 0.95


@pytest.mark.parametrize(
    ("status", "known"),
    [("COMPLETED", "finished"), ("INTERRUPTED", "killed"), ("TIMED_OUT", "timeout"), ("RUNNING", "unknown")],
)
def test_how_it_ended(tmp_path, status, known):
    """A run that was killed stays RUNNING for ever."""
    assert read(tmp_path / "run.json", RUN | {"status": status, "fail_trace": None}).sessions["status"].item() == known


def test_the_traceback_is_read_within_a_run(tmp_path):
    """The folder is read within its bounds, and the traceback lies in a temporary file."""
    (tmp_path / "metrics.json").write_text('{"loss": {"steps": [0, 1], "values": [2.5, 2.0]}}', encoding="utf-8")
    read(tmp_path / "run.json")
    run = ingest(tmp_path)

    assert run.status == "failed"
    assert run.lines["text"].to_list()[-1] == "ValueError: boom"
    assert run.gaps.height == 0


def test_broken_json_is_a_gap(tmp_path):
    (tmp_path / "run.json").write_text('{"experiment": ', encoding="utf-8")

    assert Tables.concat(reader.read(tmp_path / "run.json")).gaps["why"].to_list() == ["not a JSON object of Sacred"]
