"""Logs whose lines are wrapped in JSON are read as what was printed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst import diagnose
from loganalyst.model import Run
from loganalyst.sources.ingest import ingest
from loganalyst.sources.text.lines import wrapped

TRACE = 'Traceback (most recent call last):\n  File "/app/train.py", line 40, in step\n    return model(x)\n'
ERROR = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
STEPS = [f"step {i} loss {3 / (i + 1):.4f} lr 0.001" for i in range(40)]
PRINTED = [*STEPS, *TRACE.splitlines(), ERROR]
MILLISECONDS = 1_795_000_000_000


def stamp(i: int) -> str:
    return f"2026-11-20T10:00:{i % 60:02d}.123456789Z"


WRAPPINGS: dict[str, Callable[[int, str], dict[str, Any]]] = {
    "docker": lambda i, text: {"log": f"{text}\n", "stream": "stdout", "time": stamp(i)},
    "fluent": lambda i, text: {"@timestamp": stamp(i), "log": text, "kubernetes": {"pod_name": "t-0", "restarts": 2}},
    "google": lambda i, text: {"insertId": "x", "textPayload": text, "timestamp": stamp(i), "severity": "INFO"},
    "cloudwatch": lambda i, text: {"timestamp": MILLISECONDS + 1000 * i, "message": text, "ingestionTime": 1},
    "journald": lambda i, text: {"MESSAGE": text, "__REALTIME_TIMESTAMP": str(1000 * (MILLISECONDS + 1000 * i))},
    "python": lambda i, text: {"asctime": f"2026-11-20 10:00:{i % 60:02d},123", "message": text, "lineno": 88},
}


def read(file: Path, objects: list[Any]) -> Run:
    file.write_text("".join(f"{o if isinstance(o, str) else json.dumps(o)}\n" for o in objects))
    return ingest(file)


@pytest.mark.parametrize("name", ["train.log", "0a1b-json.log", "export.jsonl"])
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_printed_text_is_read_with_its_time_and_line(tmp_path: Path, wrapping: str, name: str) -> None:
    """Metrics, traceback and root cause equal those of the plain log."""
    run = read(tmp_path / name, [WRAPPINGS[wrapping](i, text) for i, text in enumerate(PRINTED)])
    losses = run.points.filter(metric="loss")
    (cause, *_) = diagnose(tmp_path / name).causes

    assert run.sources[0].format == "text"
    assert losses["step"].to_list() == list(range(40))
    assert losses["line"].to_list() == list(range(1, 41))
    assert (
        losses["time"].dt.second().to_list() == [(MILLISECONDS // 1000 % 60 + i) % 60 for i in range(40)]
        if (wrapping in ("cloudwatch", "journald"))
        else list(range(40))
    )
    assert (cause.id, cause.line) == ("cuda-out-of-memory", 44)
    assert run.blocks.select("first_line", "last_line", "frame").rows() == [(41, 44, "/app/train.py:40 in step")]
    assert run.gaps.height == 0


def test_a_traceback_in_one_object_is_at_its_line(tmp_path: Path) -> None:
    """In the text, or under a key of its own."""
    steps = [{"message": text, "time": stamp(i)} for i, text in enumerate(STEPS)]
    within = [*steps, {"message": f"failed\n{TRACE}{ERROR}", "time": stamp(50)}]
    beside = [*steps, {"message": "failed", "time": stamp(50), "exc_info": TRACE + ERROR}]
    for objects in (within, beside):  # forty objects before; the head that is looked at need not have the key
        run = read(tmp_path / "train.log", [*objects, {"message": "bye", "time": stamp(51)}])
        assert run.blocks.select("first_line", "last_line", "exception").rows() == [(41, 41, "torch.OutOfMemoryError")]
        assert run.sessions["last_line"].to_list() == [42]


def test_pieces_of_a_long_line_are_one_line(tmp_path: Path) -> None:
    """Docker cuts lines of more than 16 kB: a piece ends with no line end."""
    pieces = ["step 1 loss 0.5\n", "step 2 lo", "ss 0.2", "5\n", "\n", "step 3 loss 0.125\n"]
    run = read(tmp_path / "x-json.log", [{"log": piece, "time": stamp(i)} for i, piece in enumerate(pieces)])

    assert run.points.select("step", "value", "line").rows() == [(1, 0.5, 1), (2, 0.25, 2), (3, 0.125, 6)]


def test_other_lines_between_stay_as_they_are(tmp_path: Path) -> None:
    """From a collector that was cut off, or from a file that others write to."""
    objects = [{"log": text, "time": stamp(i)} for i, text in enumerate(STEPS)]
    run = read(tmp_path / "train.log", [*objects, "", '{"log": "step 40 lo', "step 41 loss 0.5", {"log": None}])

    assert run.points.filter(metric="loss").select("step", "line").rows()[-2:] == [(39, 40), (41, 43)]


@pytest.mark.parametrize("key", ["exception", "exc_info"])
def test_a_logger_with_numbers_under_keys_has_text_too(tmp_path: Path, key: str) -> None:
    """As structlog writes: metrics from the keys, the crash from its words."""
    level = {"level": "info", "timestamp": stamp(0)}
    steps: list[Any] = [{"event": "train", "step": i, "loss": 3 / (i + 1), **level} for i in range(60)]
    run = read(tmp_path / "log.jsonl", [*steps, {"event": "crashed", **level, key: f"{TRACE}ValueError: bad shape"}])
    (cause, *_) = diagnose(tmp_path / "log.jsonl").causes

    assert run.points.select("metric", "step", "value").rows() == [("train/loss", i, 3 / (i + 1)) for i in range(60)]
    assert run.points["line"].to_list() == list(range(1, 61))
    assert run.status == "failed"
    assert (cause.id, cause.line, cause.file) == ("code-exception", 61, "log.jsonl")


def test_text_between_the_objects_of_such_a_logger(tmp_path: Path) -> None:
    """What the interpreter prints behind them ends the run; a value that only the text has is kept."""
    level = {"level": "info", "ts": stamp(0)}
    steps: list[Any] = [{"msg": "update", "step": i, "loss": 3 / (i + 1), **level} for i in range(60)]
    run = read(tmp_path / "out.log", [*steps[:30], "step 29 perplexity: 8.5", *steps[30:], f"{TRACE}KeyError: 'ids'"])
    (cause, *_) = diagnose(tmp_path / "out.log").causes

    assert run.points.filter(metric="loss").select("step", "value").rows() == [(i, 3 / (i + 1)) for i in range(60)]
    assert run.points.filter(metric="perplexity").select("step", "value", "line").rows() == [(29, 8.5, 31)]
    assert run.blocks.select("first_line", "last_line", "exception").rows() == [(62, 65, "KeyError")]
    assert (cause.id, cause.line, run.gaps.height) == ("code-exception", 65, 0)


@pytest.mark.parametrize(
    "line",
    [
        '{"message": "train", "step": 1, "loss": 0.5}',
        '{"event": "train", "step": 1, "loss": 0.5, "level": "info"}',
        '{"step": 1, "loss": 0.5}',
        '{"log": {"loss": 0.5}}',
        '{"log": "x"',
        "step 1 loss 0.5",
        '["log", "x"]',
    ],
)
def test_metrics_under_keys_are_no_text(line: str) -> None:
    """Then the keys are read instead of the text."""
    assert wrapped.keys(f"{line}\n{line}\n".encode()) is None
    assert wrapped.keys(b'{"log": "x"}\n') is None


objects = st.dictionaries(
    st.sampled_from(["log", "message", "time", "stream", "exc_info"]),
    st.none() | st.text() | st.integers() | st.floats(),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(objects.map(json.dumps) | st.text(), max_size=12), st.booleans())
def test_no_content_raises_and_lines_are_numbered_as_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ends: bool
) -> None:
    """After a head that is wrapped."""
    end = "\n" if ends else ""
    head = [json.dumps({"log": f"step {i} loss 0.5{end}", "time": stamp(i)}) for i in range(60)]
    file = tmp_path_factory.mktemp("wrapped") / "train.log"
    file.write_bytes("\n".join([*head, *lines]).encode("utf-8", "surrogatepass"))
    run = ingest(file)
    count = file.read_bytes().count(b"\n") + 1

    assert run.sources[0].format == "text"
    assert run.points["line"].max() <= count
    assert run.lines.height == 0 or run.lines["line"].max() <= count
