"""The last value of each W&B metric (`files/wandb-summary.json`), for runs whose history is missing."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loganalyst.model import Tables, table
from loganalyst.model.tabletext import printable
from loganalyst.opening import opened, sibling
from loganalyst.sources.files.flatten import number
from loganalyst.sources.files.gaps import Gap, gap_table
from loganalyst.sources.files.timestamps import from_seconds
from loganalyst.sources.wandb.jsonitems import collect, unused_kind, unused_summary
from loganalyst.sources.wandb.loggedhistory import has_metrics
from loganalyst.sources.wandb.metricrows import OWN

NAME = "wandb-summary"
FILE = "wandb-summary.json"
HISTORY = "wandb-history.jsonl"  # in the same folder; contains all values of the summary
MAX_BYTES = 16 << 20


def sniff(path: Path, head: bytes) -> float:
    """1 for a JSON object under W&B's file name."""
    return float(path.name == FILE and head.lstrip().startswith(b"{"))


def read(path: Path) -> Iterator[Tables]:
    """The numbers as points at the summary's own step and time; nothing if the run's history exists.

    Values that are not numbers, and a file that is not JSON, become gaps. Raises OSError.
    """
    if sibling(path, HISTORY) or any(map(has_metrics, path.parent.parent.glob("*.wandb"))):
        return
    with opened(path) as file:
        content = file.read(MAX_BYTES + 1)
    try:
        if len(content) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES >> 20} MiB")
        data = json.loads(content)
        if not isinstance(data, dict):
            raise ValueError("not an object")
        yield _tables(data, path.name)
    except (ValueError, RecursionError) as error:
        yield Tables(gaps=gap_table([Gap(0, len(content), f"not a W&B summary ({error})")], path.name))


def _tables(data: dict[str, Any], source: str) -> Tables:
    found: list[tuple[str, float]] = []
    objects: list[tuple[str, Any]] = []
    lost: list[tuple[str, str]] = []
    for name, value in data.items():
        if name not in OWN:
            collect(printable(name), value, found, objects, lost)
    lost += [(unused_kind(value), name) for name, value in objects]
    step, time = (number(value) if isinstance(value := data.get(key), int | float) else None for key in OWN[:2])
    points = table("points", {
        "session": [0] * len(found),
        "metric": [name for name, _ in found],
        "step": None if step is None or abs(step) >= 2**63 else int(step),
        "time": from_seconds([time or 0.0])[0],
        "value": [value for _, value in found],
        "source": source,
    })  # fmt: skip
    gaps = [Gap(0, 0, unused_summary(Counter(lost)))] if lost else []
    return Tables(points=points, gaps=gap_table(gaps, source))
