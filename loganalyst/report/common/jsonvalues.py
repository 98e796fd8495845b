"""Python values as JSON values, and objects as JSON text."""

import json
from collections.abc import Mapping
from datetime import datetime
from math import isfinite, isnan
from pathlib import Path
from typing import Any

__all__ = ["dumps", "plain"]


def dumps(value: Any, indent: int | None = 2) -> str:
    """The JSON text of plain values, in ASCII so that any pipe can carry it."""
    return json.dumps(value, indent=indent, allow_nan=False)


def plain(value: Any) -> Any:
    """`value` in JSON's own types: non-finite numbers as "NaN", "Infinity" or "-Infinity", times in ISO 8601.

    >>> plain({"loss": float("nan"), "path": Path("runs/a")})
    {'loss': 'NaN', 'path': 'runs/a'}
    """
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    match value:
        case float() if not isfinite(value):
            return "NaN" if isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        case None | bool() | int() | float():
            return value
        case str() | Path():
            return str(value).encode("utf-8", "replace").decode()  # half a surrogate pair is not valid text elsewhere
        case Mapping():
            return {plain(str(k)): plain(v) for k, v in value.items()}
        case datetime():
            return value.isoformat()
    return [plain(v) for v in value]
