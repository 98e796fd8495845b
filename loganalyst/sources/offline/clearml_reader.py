"""ClearML's offline session: `metrics.jsonl`, `log.jsonl` and `task.json`, in a folder or in `offline-<id>.zip`.

A line of the first two is a list of events: `[{"type": "training_stats_scalar", "metric": "loss", "variant": "train",
"iter": 10, "value": 1.9, "timestamp": …}]`, which becomes `loss/train`. Events `:monitor:*` measure the machine.
Source: clearml 2.1, `backend_interface/metrics/events.py`; recorded with `Task.set_offline`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loganalyst.model import Tables
from loganalyst.opening import whole
from loganalyst.sources.files.flatten import Leaf
from loganalyst.sources.files.lineblocks import blocks, gap, text
from loganalyst.sources.files.zips import FAULTS, first_name, records
from loganalyst.sources.offline.events import SYSTEM, Events, milliseconds
from loganalyst.sources.tables.jsonshape import parse_json

NAME = "clearml"

_EVENTS, _TASK = ("metrics.jsonl", "log.jsonl"), "task.json"
_MONITOR = ":monitor:"
MAX_TASK_BYTES = 16 << 20


def sniff(path: Path, head: bytes) -> float:
    """How surely it is one of these, by the names of the files and the first event.

    >>> sniff(Path("metrics.jsonl"), b'[{"timestamp": 1, "type": "training_stats_scalar", "task": "offline-1"}]')
    0.96
    """
    start = head[:300].lstrip()
    events = path.name in _EVENTS and start.startswith(b"[{") and b'"task":' in start and b'"type":' in start
    task = path.name == _TASK and b'"offline_folder"' in head
    return 0.96 if events or task or first_name(head) in (*_EVENTS, _TASK) else 0.0


def read(path: Path) -> Iterator[Tables]:
    """Points, hyperparameters, and what the program printed. Raises OSError."""
    events = Events(path)
    try:
        for record in _records(path):
            for event in record if isinstance(record, list) else [record]:
                _take(events, event)
            if events.full():
                yield events.points()
    except FAULTS as error:
        yield Tables(gaps=gap(path, f"zip: {str(error)[:200]}", 0, path.stat().st_size))
    yield from events.ending(session=False)


def _records(path: Path) -> Iterator[Any]:
    """The JSON values in the file, or in the files of an archive."""
    if path.suffix == ".zip":
        for member in (*_EVENTS, _TASK):
            yield from records(path, member)
    elif path.name == _TASK:
        if path.stat().st_size <= MAX_TASK_BYTES:
            yield parse_json(text(whole(path)))
    else:
        for block in blocks(path, quoted=False):
            yield from (parse_json(line) for line in block.data.split(b"\n") if line.strip())


def _take(events: Events, event: Any) -> None:
    """Add an event, or the hyperparameters of a task. Plots, images and vectors are left out."""
    if not isinstance(event, dict):
        events.lost += 1
    elif isinstance(sections := event.get("hyperparams"), dict):
        events.settings.update(_settings(sections))
    elif event.get("type") == "training_stats_scalar":
        metric, variant = str(event.get("metric")), str(event.get("variant"))
        name = metric if metric == variant else f"{metric}/{variant}"
        if name.startswith(_MONITOR):
            name = SYSTEM + name.removeprefix(_MONITOR)
        events.point(name, event.get("value"), event.get("iter"), milliseconds(event.get("timestamp")))
    elif event.get("type") == "log" and isinstance(event.get("msg"), str):
        events.output.append(f"{event['msg']}\n")


def _settings(sections: Mapping[str, Any]) -> Iterator[tuple[str, Leaf]]:
    """The parameters of each section: `{"General": {"m/d": {"value": "3"}}}`."""
    for params in sections.values():
        for key, param in params.items() if isinstance(params, dict) else ():
            if isinstance(param, dict) and isinstance(value := param.get("value"), Leaf):
                yield str(key).replace("/", "."), value
