"""Rows of W&B metrics (keys with JSON values) as `points` and `distributions`."""

import json
import math
from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.sources import buckets, wandbproto
from loganalyst.sources.flatten import number
from loganalyst.sources.timestamps import from_seconds

AXES = ("_step", "_timestamp", "epoch")
OWN = ("_step", "_timestamp", "_runtime", "_wandb")  # keys W&B adds to the user's
NONFINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}  # where a writer puts them as text
NO_STEP = -(2**63)
MOST_LAYOUTS = 4096  # remembered; runs log few different sets of keys


class Layout(NamedTuple):
    """What the items of a row are, by position: metrics, axes, and the parts of objects such as histograms."""

    metrics: list[tuple[int, str]]
    axes: dict[str, int]
    objects: dict[str, list[tuple[int, tuple[str, ...]]]]


class Columns(NamedTuple):
    """Rows as arrays: place, step (NO_STEP: none), time and epoch of each; row, code of the metric and value of each
    point.
    """

    places: NDArray[np.int64]
    steps: NDArray[np.int64]
    times: NDArray[np.float64]
    epochs: NDArray[np.float64]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]


class Rows:
    """The rows since the last `take`; `logged` names all metrics that ever had a point.

    `place` is the order of a row among them, whenever it is added.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.layouts: dict[tuple[str | bytes, ...], Layout] = {}
        self.codes: dict[str, int] = {}
        self.logged: set[str] = set()
        self.ended = 0.0  # latest time of a row
        self._clear()

    def _clear(self) -> None:
        self.metrics, self.values = array("q"), array("d")  # one entry a point
        self.lengths, self.places, self.steps = array("q"), array("q"), array("q")  # one entry a row
        self.times, self.epochs = array("d"), array("d")
        self.columns: list[Columns] = []
        self.distributions: list[dict[str, Any]] = []

    def layout(self, keys: list[bytes], prefix: str = "") -> Layout:
        """What raw `keys` mean; metric names get `prefix`. ValueError, IndexError where a key cannot be decoded."""
        known: tuple[str | bytes, ...] = (prefix, *keys)
        if known not in self.layouts:
            if len(self.layouts) >= MOST_LAYOUTS:
                self.layouts.clear()
            self.layouts[known] = _layout([wandbproto.path(key) for key in keys], prefix)
        return self.layouts[known]

    def add(
        self,
        layout: Layout,
        raw: list[bytes],
        *,
        place: int = 0,
        step: int | None = None,
        time: float = 0.0,
        new_only: bool = False,
    ) -> None:
        """Take in one row of JSON values; `new_only`: only numbers of metrics without a point so far.

        `step` and `time` (seconds) hold where the row itself has none. ValueError where a value is no JSON.
        """
        values = json.loads(b"[" + b",".join(raw) + b"]")
        if len(values) != len(raw):
            raise ValueError("a value is not one JSON value")
        axes = {name: number(values[at]) for name, at in layout.axes.items() if isinstance(values[at], int | float)}
        step, time = _whole(axes.get("_step"), step), axes.get("_timestamp") or time
        found: list[tuple[str, float]] = []
        objects = [(name, _built(parts, values)) for name, parts in layout.objects.items()]
        for at, name in layout.metrics:
            value = values[at]
            if type(value) is float:
                found.append((name, value))
            elif value is not None:
                _collect(name, value, found, objects)
        if new_only:
            found, objects = [(name, value) for name, value in found if name not in self.logged], []
        self.places.append(place)
        self._append(found, step, time, axes.get("epoch"))
        described = [(name, _described(value)) for name, value in objects]
        self.distributions += [{"metric": n, "step": step, "time": time, **d} for n, d in described if d]

    def _append(self, found: list[tuple[str, float]], step: int | None, time: float, epoch: float | None) -> None:
        self.metrics.extend([self._code(name) for name, _ in found])
        self.values.extend([value for _, value in found])
        self.lengths.append(len(found))
        self.steps.append(NO_STEP if step is None else step)
        self.times.append(time)
        self.epochs.append(math.nan if epoch is None else epoch)
        self.ended = max(self.ended, time)

    def _code(self, name: str) -> int:
        return self.codes.setdefault(name, len(self.codes))

    def add_columns(self, found: Columns, names: list[str | None]) -> None:
        """Take in many rows; their codes count in `names`."""
        codes = np.array([-1 if name is None else self._code(name) for name in names], np.int64)
        self.columns.append(found._replace(codes=codes[found.codes]))
        self.ended = max(self.ended, float(np.nanmax(found.times, initial=0.0)))

    def take(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows as `points` and `distributions` frames; forgets them."""
        names = pl.Series(list(self.codes), dtype=pl.String)
        found = self._joined()
        self.logged |= set(names.gather(np.unique(found.codes)).to_list())
        steps = pl.Series(found.steps[found.rows], dtype=pl.Int64)
        points = table("points", {
            "session": np.zeros(len(found.codes), np.int32),
            "metric": names.gather(found.codes),
            "step": pl.select(pl.when(steps != NO_STEP).then(steps)).to_series(),
            "epoch": pl.Series(found.epochs[found.rows]).fill_nan(None),
            "time": from_seconds(found.times[found.rows]),
            "value": found.values,
            "source": self.source,
        })  # fmt: skip
        distributions = buckets.frame(self.distributions, self.source)
        self._clear()
        return points, distributions

    def _joined(self) -> Columns:
        """All rows, and their points in the order of the rows' places."""
        rows = np.repeat(np.arange(len(self.lengths)), self.lengths)
        axes = np.array(self.places), np.array(self.steps), np.array(self.times), np.array(self.epochs)
        single = Columns(*axes, rows, np.array(self.metrics), np.array(self.values))
        parts, before = [single], len(self.lengths)
        for part in self.columns:
            parts.append(part._replace(rows=part.rows + before))
            before += len(part.places)
        found = Columns(*map(np.concatenate, zip(*parts, strict=True)))
        order = np.argsort(found.places[found.rows], kind="stable")
        return found._replace(rows=found.rows[order], codes=found.codes[order], values=found.values[order])


def _layout(paths: list[tuple[str, ...]], prefix: str) -> Layout:
    objects = {path[:-1] for path in paths if path[-1:] == ("_type",) and len(path) > 1}
    out = Layout([], {}, {})
    for at, path in enumerate(paths):
        parent = next((path[:i] for i in range(1, len(path)) if path[:i] in objects), None)
        if len(path) == 1 and path[0] in AXES and not prefix:
            out.axes[path[0]] = at
        if parent:
            out.objects.setdefault(prefix + ".".join(parent), []).append((at, path[len(parent) :]))
        elif path[:1] and path[0] not in OWN:
            out.metrics.append((at, prefix + ".".join(path)))
    return out


def _whole(value: float | None, otherwise: int | None) -> int | None:
    return int(value) if value is not None and abs(value) < 2**63 else otherwise


def _collect(name: str, value: Any, found: list[tuple[str, float]], objects: list[tuple[str, Any]]) -> None:
    """The numbers in a value that is no float, nested ones under dotted names; texts and lists hold none."""
    if not isinstance(value, Mapping):
        known = leaf(value)
        found += [(name, known)] if known is not None else []
    elif "_type" in value:
        objects.append((name, value))
    else:
        for key, inner in value.items():
            _collect(f"{name}.{key}", inner, found, objects)


def leaf(value: Any) -> float | None:
    """The number a JSON value without names stands for, None for null, lists and other texts."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        return _float(value)
    return NONFINITE.get(value) if isinstance(value, str) else None


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _built(parts: list[tuple[int, tuple[str, ...]]], values: list[Any]) -> dict[str, Any]:
    """The object whose parts were logged under nested keys."""
    out: dict[str, Any] = {}
    for at, path in parts:
        inner = out
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = values[at]
    return out


def _described(value: Mapping[str, Any]) -> dict[str, Any] | None:
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
    return buckets.describe(edges[:-1], edges[1:], counts)
