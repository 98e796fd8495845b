"""What the JSON values that W&B logs are: numbers, nested mappings of them, histograms, things that are no numbers."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from loganalyst.model.tabletext import printable
from loganalyst.sources.files import histograms

NONFINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}  # where a writer puts them as text
LONGEST = 1 << 20  # bytes of a value that are looked at


def loaded(raw: list[bytes]) -> list[Any]:
    """JSON values; one that is too long is an object that says so. ValueError where one is no JSON."""
    short = [value if len(value) <= LONGEST else b'{"_type": "value too long"}' for value in raw]
    values: list[Any] = json.loads(b"[" + b",".join(short) + b"]")
    if len(values) != len(raw):
        raise ValueError("a value is not one JSON value")
    return values


def collect(
    name: str, value: Any, found: list[tuple[str, float]], objects: list[tuple[str, Any]], lost: list[tuple[str, str]]
) -> None:
    """The numbers in a value that is no float, nested ones under dotted names; texts and lists are lost."""
    if not isinstance(value, Mapping):
        known = leaf(value)
        if known is not None:
            found.append((name, known))
        elif what := unused(value):
            lost.append((what, name))
    elif "_type" in value:
        objects.append((name, value))
    else:
        for key, inner in value.items():
            collect(f"{name}.{printable(key)}", inner, found, objects, lost)


def leaf(value: Any) -> float | None:
    """The number a JSON value without names stands for, None for null, lists and other texts."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        return _float(value)
    return NONFINITE.get(value) if isinstance(value, str) else None


def unused(value: Any) -> str:
    """What a JSON value that gives no row is; empty for null, which says nothing."""
    if isinstance(value, Mapping):
        return printable(value.get("_type", "object"))[:40]
    return "" if value is None or value == [] else "list" if isinstance(value, list) else "text"


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def built(parts: list[tuple[int, tuple[str, ...]]], values: list[Any]) -> dict[str, Any]:
    """The object whose parts were logged under nested keys."""
    out: dict[str, Any] = {}
    for at, path in parts:
        inner: Any = out
        for name in path[:-1]:
            inner = inner.setdefault(name, {}) if isinstance(inner, dict) else None
        if isinstance(inner, dict):  # else the part above is no object itself
            inner[path[-1]] = values[at]
    return out


def described(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """A histogram's row; None for other objects (images, tables) and histograms that are not whole."""
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


def unused_told(unused: Mapping[tuple[str, str], int]) -> str:
    """What values were not used, as text: by kind, with the names of a few."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for (what, name), n in sorted(unused.items()):
        kinds.setdefault(what, []).append((name, n))
    told = [f"{sum(n for _, n in of)} {what} ({_few(name for name, _ in of)})" for what, of in sorted(kinds.items())]
    return f"{sum(unused.values())} logged values are no numbers: {', '.join(told)}"


def _few(names: Iterable[str], most: int = 3) -> str:
    known = list(names)
    return ", ".join(known[:most]) + (", …" if len(known) > most else "")
