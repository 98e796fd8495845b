"""Comet's offline experiment `<key>.zip`: `messages.json` with a JSON message a line, and `experiment.json`.

The context of a metric precedes its name, as on Comet's page: `validate_loss`. Metrics `sys.*` are measurements of the
machine. Source: comet_ml 3.58, `offline.py`, `messages.py`; recorded with `OfflineExperiment`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loganalyst.model import Tables
from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.files.lineblocks import gap
from loganalyst.sources.files.zips import FAULTS, first_name, records
from loganalyst.sources.offline.events import SYSTEM, Events, milliseconds

NAME = "comet"

_FILES = ("experiment.json", "messages.json")
_AUTOMATIC = {"curr_step", "curr_epoch"}  # parameters that Comet logs with each metric


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely it is one of these: a zip archive that begins with one of its two files."""
    return 0.9 if first_name(head) in _FILES else 0.0


def read(path: Path) -> Iterator[Tables]:
    """Points, parameters, the session, and what the program printed. Raises OSError."""
    events = Events(path)
    try:
        for facts in records(path, "experiment.json"):
            if isinstance(facts, dict):
                events.started, events.ended = (milliseconds(facts.get(key)) for key in ("start_time", "stop_time"))
        for message in records(path, "messages.json"):
            _take(events, message)
            if events.full():
                yield events.points()
    except FAULTS as error:
        yield Tables(gaps=gap(path, f"zip: {str(error)[:200]}", 0, path.stat().st_size))
    yield from events.ending()


def _take(events: Events, message: Any) -> None:
    """Add one message. Messages about packages, git and the machine are left out."""
    payload = message.get("payload") if isinstance(message, dict) else None
    if not isinstance(payload, dict):
        events.lost += 1
        return
    if isinstance(metric := payload.get("metric"), dict):
        _metric(events, payload, metric)
    elif isinstance(param := payload.get("param"), dict):
        name, value = param.get("paramName"), param.get("paramValue")
        if name not in _AUTOMATIC:
            key = str(name).replace("|", ".").replace("/", ".")
            events.settings[key] = value if isinstance(value, Leaf) else str(value)
    elif isinstance(printed := payload.get("output"), str):
        events.output.append(printed)
    elif message.get("type") == "log_other" and isinstance(value := payload.get("value"), Leaf):
        events.settings[f"comet.{payload.get('key')}"] = value


def _metric(events: Events, payload: Mapping[str, Any], metric: Mapping[str, Any]) -> None:
    name, context = str(metric.get("metricName")), payload.get("context")
    if name.startswith("sys."):
        name = SYSTEM + name.removeprefix("sys.")
    elif context:
        name = f"{context}_{name}"
    seconds = milliseconds(payload.get("local_timestamp"))
    events.point(name, metric.get("metricValue"), metric.get("step"), seconds, metric.get("epoch"))
