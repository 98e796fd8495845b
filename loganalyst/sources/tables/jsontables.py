"""JSON objects that hold a table: pandas' columns beside rows (orient="split"), and lists of pairs of step and value.

Pairs stand under a name each, as in Flower's history: `{"loss": [[0, 2.3], [1, 1.9]], "metrics": {"acc": [[1, 0.4]]}}`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loganalyst.sources.files.flatten import number
from loganalyst.sources.tables.stepcolumns import COUNTERS, matching

MIN_ENTRIES = 3  # of a list of pairs
MAX_DEPTH = 3  # of the objects around a list of pairs
_OPENING = re.compile(
    r'\{\s*"(?:'
    r'columns"\s*:\s*\[\s*"'  # {"columns": ["epoch"
    # {"loss": [[0, 2.3
    r'|[^"]{0,200}"\s*:\s*(?:\{\s*"[^"]{0,200}"\s*:\s*)?\[\s*\[\s*\d{1,15}\s*,\s*(?:-?\d|NaN|-?Infinity))'
)


def opens(opening: str) -> bool:
    """Whether a file may be such a table, by its first characters."""
    return bool(_OPENING.match(opening))


def columns(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of {"columns": ["epoch", "loss"], "index": [0, 1], "data": [[1, 2.3], [2, 1.9]]}; else nothing.

    Without a counter, an index of whole numbers counts the rows. Texts are then samples or experiments, and no course.
    """
    names, rows, index = data.get("columns"), data.get("data"), data.get("index")
    if (
        not isinstance(names, list)
        or not isinstance(rows, list)
        or not rows
        or not _are(names, str)
        or not _are(rows, list)
    ):
        return {}
    if len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        return {}
    found = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    if matching(names, COUNTERS):
        return found
    if any(_are(column, str) for column in found.values()) or (index and not _are(index, int)):
        return {}
    return {"step": index, **found} if index and len(index) == len(rows) and index == sorted(set(index)) else found


def steps_of_pairs(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists of pairs as columns beside their steps, None where one has no value; nothing if there are none."""
    found = dict(_pairs(data))
    steps = sorted({step for pairs in found.values() for step in pairs})
    return (
        {"step": steps, **{name: [pairs.get(step) for step in steps] for name, pairs in found.items()}} if found else {}
    )


def _pairs(data: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, dict[int, float | None]]]:
    for key, value in data.items():
        if isinstance(value, dict) and depth < MAX_DEPTH:
            yield from _pairs(value, f"{prefix}{key}/", depth + 1)
        elif isinstance(value, list) and (pairs := _by_step(value)):
            yield f"{prefix}{key}", pairs


def _by_step(pairs: Sequence[Any]) -> dict[int, float | None]:
    """The values by step; nothing if these are not pairs of a step that rises and a number."""
    if len(pairs) < MIN_ENTRIES or not all(isinstance(pair, list) and len(pair) == len("xy") for pair in pairs):
        return {}
    steps = [step for step, _ in pairs]
    if any(type(step) is not int or step < 0 for step in steps) or sorted(set(steps)) != steps:
        return {}
    values = [_measured(value) for _, value in pairs]
    return dict(zip(steps, values, strict=True)) if None not in values else {}


def _measured(value: object) -> float | None:
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _are(values: Sequence[Any], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)
