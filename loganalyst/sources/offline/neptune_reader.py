"""Neptune's offline run: `.neptune/offline/run__<id>…/data-1.log`, a JSON operation a line.

`{"obj": {"type": "LogFloats", "path": ["train", "loss"], "values": [{"value": 2.0, "step": 0, "ts": …}]}, "at": …}`.
Values that are assigned become settings; what the program printed is under `monitoring`. A run whose exception was seen
has `sys/failed`. Source: neptune 1.14, `internal/operation.py`; recorded with `init_run(mode="offline")`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from loganalyst.model import Tables
from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.files.lineblocks import blocks
from loganalyst.sources.offline.events import SYSTEM, Events
from loganalyst.sources.tables.jsonshape import parse_json

NAME = "neptune"

_OWN = {"sys", "monitoring", "source_code"}  # what Neptune itself writes


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely it is one of these, by the first operation.

    >>> sniff(Path("data-1.log"), b'{"obj": {"type": "AssignString", "path": ["sys", "name"], "value": "x"}, "at": 1}')
    0.96
    """
    start = head[:60].replace(b" ", b"")
    return 0.96 if start.startswith(b'{"obj":{"type":"') and b'"path":' in head[:200] else 0.0


def read(path: Path) -> Iterator[Tables]:
    """Points, settings, the session, and what the program printed. Raises OSError."""
    events = Events(path)
    for block in blocks(path, quoted=False):
        for line in block.data.split(b"\n"):
            if line.strip():
                _take(events, parse_json(line))
        if events.full():
            yield events.points()
    yield from events.ending()


def _take(events: Events, record: Any) -> None:
    """Add an operation. Files, images and tags are left out."""
    operation = record.get("obj") if isinstance(record, dict) else None
    path = operation.get("path") if isinstance(operation, dict) else None
    if not isinstance(operation, dict) or not isinstance(path, list) or not path:
        events.lost += 1
        return
    if events.started is None and isinstance(at := record.get("at"), int | float):
        events.started = at
    match operation.get("type"):
        case "LogFloats":
            for item in _items(operation):
                events.point(_name(path), item.get("value"), item.get("step"), item.get("ts"))
        case "LogStrings" if path[-1] in ("stdout", "stderr", "traceback"):
            events.output += [f"{item.get('value')}\n" for item in _items(operation)]
        case "AssignFloat" | "AssignInt" | "AssignBool" | "AssignString":
            _assign(events, path, operation.get("value"))


def _items(operation: Mapping[str, Any]) -> list[dict[str, Any]]:
    values = operation.get("values")
    return [item for item in values if isinstance(item, dict)] if isinstance(values, list) else []


def _name(path: Sequence[Any]) -> str:
    """The name of a series: `monitoring/<id>/cpu` is a measurement of the machine."""
    return SYSTEM + "/".join(map(str, path[2:])) if path[0] == "monitoring" else "/".join(map(str, path))


def _assign(events: Events, path: Sequence[Any], value: Any) -> None:
    if path == ["sys", "failed"] and value is True:
        events.status = "failed"
    elif path[0] not in _OWN and isinstance(value, Leaf):
        events.settings[".".join(map(str, path))] = value
