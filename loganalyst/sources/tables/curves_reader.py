"""JSON with an object of steps and values for each metric: Sacred's `metrics.json`, ClearML's reported scalars.

`{"loss": {"steps": […], "timestamps": […], "values": […]}}`; ClearML nests a level deeper, with `x` and `y`.
Names of nested objects are joined with ``/``. Sources: sacred 0.8.7, `FileStorageObserver.log_metrics`; clearml 2.1,
`Task.get_reported_scalars` saved with `json.dump`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loganalyst.model import Tables
from loganalyst.model.tabletext import printable
from loganalyst.opening import whole
from loganalyst.sources.files.lineblocks import gap, text
from loganalyst.sources.tables import stepcolumns
from loganalyst.sources.tables.jsonshape import parse_json
from loganalyst.sources.tables.jsonvalues import number_in
from loganalyst.sources.tables.pointrows import as_points

NAME = "jsoncurves"

MAX_BYTES = 256 << 20
MAX_DEPTH = 4
_STEPS, _VALUES, _TIMES = ("steps", "step", "x", "iterations"), ("values", "value", "y"), ("timestamps", "timestamp")
_KEY = r'"[^"\\]{0,200}"\s*:\s*'
# `{"loss": {"steps": [`, `{"loss": {"train": {"name": "train", "x": [`
_OPENING = re.compile(
    rf'\{{\s*{_KEY}(?:\{{\s*{_KEY})?\{{\s*(?:"name"\s*:\s*"[^"]{{0,200}}"\s*,\s*)?'
    rf'"(?:{"|".join((*_STEPS, *_VALUES, *_TIMES))})"\s*:\s*\['
)


def sniff(path: Path, head: bytes) -> float:  # noqa: ARG001 -- readers share one signature
    """How surely it is one of these, by its opening.

    >>> sniff(Path("metrics.json"), b'{"loss": {"steps": [0, 1], "values": [2.1, 1.9]}}')
    0.97
    """
    return 0.97 if _OPENING.match(text(head)) else 0.0


def read(path: Path) -> Iterator[Tables]:
    """The points of each curve; a gap for other values. Raises OSError."""
    size = path.stat().st_size
    data = parse_json(text(whole(path))) if size <= MAX_BYTES else None
    if not isinstance(data, dict):
        why = "broken JSON" if size <= MAX_BYTES else f"larger than {MAX_BYTES >> 20} MiB"
        yield Tables(gaps=gap(path, why, 0, size))
        return
    lost: list[str] = []
    for name, curve in _curves(data, "", lost):
        yield Tables(points=_points(path, name, curve))
    if lost:
        yield Tables(gaps=gap(path, f"{len(lost):,} values are no curves of steps and values, the first {lost[0]!r}"))


def _curves(data: Mapping[str, Any], prefix: str, lost: list[str], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The name and object of each curve; the names of other values are added to `lost`."""
    for key, value in data.items():
        name = printable(key) if prefix.rpartition("/")[2] == key else f"{prefix}/{printable(key)}".lstrip("/")
        if isinstance(value, dict) and _column(value, _VALUES) and _column(value, _STEPS):
            yield name, value
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            yield from _curves(value, name, lost, depth + 1)
        else:
            lost.append(name[:80])


def _column(curve: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    """The list under the first of the names; empty if there is none."""
    return next((curve[name] for name in names if isinstance(curve.get(name), list)), [])


def _points(path: Path, name: str, curve: Mapping[str, Any]) -> pl.DataFrame:
    """The points of a curve. Its steps may be times, as ClearML offers."""
    values = [number_in(value) if not isinstance(value, list | dict) else None for value in _column(curve, _VALUES)]
    steps, stamps = _column(curve, _STEPS), _column(curve, _TIMES)
    axis, time = _fitting(steps, len(values)), stepcolumns.times(_fitting(stamps, len(values)))
    number = axis.cast(pl.Float64, strict=False)
    if axis.count() and stepcolumns.times(axis).count() == axis.count():
        time, number = stepcolumns.times(axis), pl.Series(range(len(values)), dtype=pl.Float64)
    rows = pl.DataFrame({"step": number.round(), "time": time, "value": pl.Series(values, dtype=pl.Float64)})
    known = rows.drop_nulls("value").with_columns(pl.col("step").cast(pl.Int64, strict=False), metric=pl.lit(name))
    return as_points(known, path.name)


def _fitting(cells: list[Any], height: int) -> pl.Series:
    """Numbers or texts as a column of this height."""
    kept = [cell if isinstance(cell, str | int | float) and not isinstance(cell, bool) else None for cell in cells]
    kept = [*kept[:height], *[None] * (height - len(kept))]
    if any(isinstance(cell, str) for cell in kept):
        return pl.Series([None if cell is None else str(cell) for cell in kept], dtype=pl.String)
    return pl.Series([None if cell is None else float(cell) for cell in kept], dtype=pl.Float64)
