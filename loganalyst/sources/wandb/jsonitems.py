"""The JSON values that W&B logs: numbers, nested mappings of numbers, histograms, and values that are not numbers."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from loganalyst.model.tabletext import printable
from loganalyst.sources.files import histograms

NONFINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}  # some writers log these as text
MAX_BYTES = 1 << 20  # of one value


def parsed(raw: list[bytes]) -> list[Any]:
    """Parse JSON values. One that is too long becomes an object of type "value too long". Raises ValueError."""
    short = [value if len(value) <= MAX_BYTES else b'{"_type": "value too long"}' for value in raw]
    values: list[Any] = json.loads(b"[" + b",".join(short) + b"]")
    if len(values) != len(raw):
        raise ValueError("a value is not one JSON value")
    return values


def collect(
    name: str, value: Any, found: list[tuple[str, float]], objects: list[tuple[str, Any]], lost: list[tuple[str, str]]
) -> None:
    """Sort a value that is not a float: numbers to `found`, typed objects to `objects`, all others to `lost`.

    Numbers in a nested mapping get dotted names.
    """
    if not isinstance(value, Mapping):
        known = leaf(value)
        if known is not None:
            found.append((name, known))
        elif kind := unused_kind(value):
            lost.append((kind, name))
    elif "_type" in value:
        objects.append((name, value))
    else:
        for key, inner in value.items():
            collect(f"{name}.{printable(key)}", inner, found, objects, lost)


def leaf(value: Any) -> float | None:
    """The number in a JSON value that is not a mapping; None for null, lists and other texts."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        return _float(value)
    return NONFINITE.get(value) if isinstance(value, str) else None


def unused_kind(value: Any) -> str:
    """The kind of a JSON value that gives no row; empty for null and empty lists, which are not reported."""
    if isinstance(value, Mapping):
        return printable(value.get("_type", "object"))[:40]
    return "" if value is None or value == [] else "list" if isinstance(value, list) else "text"


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rebuilt(parts: list[tuple[int, tuple[str, ...]]], values: list[Any]) -> dict[str, Any]:
    """Rebuild an object whose parts were logged under nested keys."""
    out: dict[str, Any] = {}
    for at, path in parts:
        inner: Any = out
        for name in path[:-1]:
            inner = inner.setdefault(name, {}) if isinstance(inner, dict) else None
        if isinstance(inner, dict):  # otherwise the parent is not an object
            inner[path[-1]] = values[at]
    return out


def histogram_row(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """A histogram's row; None for other objects (images, tables) and for incomplete histograms."""
    if value.get("_type") != "histogram":
        return None
    try:
        counts = np.asarray(value["values"], np.float64)
        if "bins" in value:
            edges = np.asarray(value["bins"], np.float64)
        else:
            packed = value["packedBins"]
            edges = packed["min"] + packed["size"] * np.arange(len(counts) + 1, dtype=np.float64)
        if edges.ndim != 1 or edges.shape != (len(counts) + 1,):
            return None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return histograms.describe(edges[:-1], edges[1:], counts)


def unused_summary(unused: Mapping[tuple[str, str], int]) -> str:
    """The values that were not used, as text: how many of each kind, with some names."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for (kind, name), n in sorted(unused.items()):
        kinds.setdefault(kind, []).append((name, n))
    parts = [
        f"{sum(n for _, n in logged)} {kind} ({_some_names(name for name, _ in logged)})"
        for kind, logged in sorted(kinds.items())
    ]
    return f"{sum(unused.values())} logged values are not numbers: {', '.join(parts)}"


def _some_names(names: Iterable[str], limit: int = 3) -> str:
    known = list(names)
    return ", ".join(known[:limit]) + (", …" if len(known) > limit else "")
