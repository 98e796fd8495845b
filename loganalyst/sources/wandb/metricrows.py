"""Rows of W&B metrics (keys with JSON values) as `points` and `distributions`."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import table
from loganalyst.sources.files import histograms
from loganalyst.sources.files.flatten import number
from loganalyst.sources.files.timestamps import from_seconds
from loganalyst.sources.wandb import proto
from loganalyst.sources.wandb.jsonitems import built, collect, described, loaded, unused

AXES = ("_step", "_timestamp", "epoch")
OWN = ("_step", "_timestamp", "_runtime", "_wandb")  # keys W&B adds to the user's
NO_STEP = -(2**63)
MOST_LAYOUTS = 4096  # remembered; runs log few different sets of keys
MOST_NAMES = 1000  # of metrics whose values are no numbers; the rest are counted under one


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

    `place` is the order of a row among them, whenever it is added. `unused` counts the values that gave no row, by
    what they are and the name they were logged under.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.layouts: dict[tuple[str | bytes, ...], Layout] = {}
        self.codes: dict[str, int] = {}
        self.logged: set[str] = set()
        self.unused = Counter[tuple[str, str]]()
        self.ended = 0.0  # latest time of a row
        self._clear()

    def _clear(self) -> None:
        self.metrics, self.values = array("q"), array("d")  # one entry a point
        self.lengths, self.places, self.steps = array("q"), array("q"), array("q")  # one entry a row
        self.times, self.epochs = array("d"), array("d")
        self.columns: list[Columns] = []
        self.distributions: list[dict[str, Any]] = []

    def state(self) -> dict[str, Any]:
        """What outlives a `take`, as JSON."""
        unused = [[what, name, n] for (what, name), n in sorted(self.unused.items())]
        return {"logged": sorted(self.logged), "ended": self.ended, "unused": unused}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Know again what `state` told."""
        self.logged, self.ended = set(state["logged"]), state["ended"]
        self.unused.update({(what, name): n for what, name, n in state["unused"]})

    def layout(self, keys: list[bytes], prefix: str = "") -> Layout:
        """What raw `keys` mean; metric names get `prefix`. ValueError, IndexError where a key cannot be decoded."""
        known: tuple[str | bytes, ...] = (prefix, *keys)
        if known not in self.layouts:
            if len(self.layouts) >= MOST_LAYOUTS:
                self.layouts.clear()
            self.layouts[known] = _layout([proto.path(key) for key in keys], prefix)
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
        values = loaded(raw)
        axes = {name: number(values[at]) for name, at in layout.axes.items() if isinstance(values[at], int | float)}
        step, time = _whole(axes.get("_step"), step), axes.get("_timestamp") or time
        found: list[tuple[str, float]] = []
        lost: list[tuple[str, str]] = []
        objects = [(name, built(parts, values)) for name, parts in layout.objects.items()]
        for at, name in layout.metrics:
            value = values[at]
            if type(value) is float:
                found.append((name, value))
            elif value is not None:
                collect(name, value, found, objects, lost)
        rows = [(name, value, described(value)) for name, value in objects]
        lost += [(unused(value), name) for name, value, row in rows if row is None]
        if new_only:
            found, rows = [(name, value) for name, value in found if name not in self.logged], []
            lost = [item for item in lost if item not in self.unused]
        self.places.append(place)
        self._append(found, step, time, axes.get("epoch"))
        self.distributions += [{"metric": n, "step": step, "time": time, **row} for n, _, row in rows if row]
        self.add_unused(Counter(lost))

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

    def add_unused(self, lost: Mapping[tuple[str, str], int]) -> None:
        """Count values that give no row, by what they are and their names."""
        for (what, name), n in lost.items():
            known = (what, name) in self.unused or len(self.unused) < MOST_NAMES
            self.unused[what, name if known else "…"] += n

    def add_columns(self, found: Columns, names: list[str | None]) -> None:
        """Take in many rows; their codes count in `names`."""
        if not len(found.places):
            return
        codes = np.array([-1 if name is None else self._code(name) for name in names], np.int64)
        self.columns.append(found._replace(codes=codes[found.codes]))
        self.ended = max(self.ended, float(np.nanmax(found.times, initial=0.0)))

    def take(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows as `points` and `distributions` frames; forgets them."""
        points = self._points() if self.lengths or self.columns else table("points")
        distributions = histograms.frame(self.distributions, self.source)
        self._clear()
        return points, distributions

    def _points(self) -> pl.DataFrame:
        names, found = list(self.codes), self._joined()
        self.logged |= {names[code] for code in np.unique(found.codes).tolist()}
        steps, epochs = pl.Series(found.steps[found.rows], dtype=pl.Int64), found.epochs[found.rows]
        stepless, epochless = found.steps == NO_STEP, np.isnan(found.epochs)
        return table("points", {
            "session": 0,
            "metric": pl.Series(names, dtype=pl.String)[found.codes.astype(np.uint32)],
            "step": steps.set(steps == NO_STEP, None) if stepless.any() else steps,
            "epoch": pl.Series(epochs).fill_nan(None) if not epochless.all() else None,
            "time": from_seconds(found.times[found.rows]),
            "value": found.values,
            "source": self.source,
        })  # fmt: skip

    def _joined(self) -> Columns:
        """All rows, and their points in the order of the rows' places."""
        rows = np.repeat(np.arange(len(self.lengths)), self.lengths)
        axes = np.array(self.places), np.array(self.steps), np.array(self.times), np.array(self.epochs)
        parts, before = [Columns(*axes, rows, np.array(self.metrics), np.array(self.values))], len(self.lengths)
        for part in self.columns:
            parts.append(part._replace(rows=part.rows + before))
            before += len(part.places)
        parts = [part for part in parts if len(part.places)] or parts[:1]
        found = Columns(*map(np.concatenate, zip(*parts, strict=True))) if len(parts) > 1 else parts[0]
        places = found.places[found.rows]
        if (places[1:] >= places[:-1]).all():
            return found
        order = np.argsort(places, kind="stable")
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
