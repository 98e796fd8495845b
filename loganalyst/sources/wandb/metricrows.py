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
from loganalyst.sources.wandb.jsonitems import collect, histogram_row, parsed, rebuilt, unused_kind

AXES = ("_step", "_timestamp", "epoch")
OWN = ("_step", "_timestamp", "_runtime", "_wandb")  # keys W&B adds to the user's
NO_STEP = -(2**63)
MAX_LAYOUTS = 4096  # cached; runs log few different sets of keys
MAX_UNUSED_NAMES = 1000  # of metrics with unused values that are counted by name; the others are counted together


class Layout(NamedTuple):
    """The meaning of a row's items, by position: metrics, axes, and parts of objects such as histograms."""

    metrics: list[tuple[int, str]]
    axes: dict[str, int]
    objects: dict[str, list[tuple[int, tuple[str, ...]]]]


class Columns(NamedTuple):
    """Rows and points as arrays.

    Of each row: place, step (NO_STEP: none), time and epoch. Of each point: row, code of the metric, and value.
    """

    places: NDArray[np.int64]
    steps: NDArray[np.int64]
    times: NDArray[np.float64]
    epochs: NDArray[np.float64]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]


class Rows:
    """The rows since the last `take`.

    The `place` of a row is its position in the file; rows may be added in any order. `logged`: all metrics that ever
    had a point. `unused`: the number of values that gave no row, by kind and name.
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
        self.metrics, self.values = array("q"), array("d")  # one entry per point
        self.lengths, self.places, self.steps = array("q"), array("q"), array("q")  # one entry per row
        self.times, self.epochs = array("d"), array("d")
        self.columns: list[Columns] = []
        self.distributions: list[dict[str, Any]] = []

    def state(self) -> dict[str, Any]:
        """The state that a `take` does not clear, as JSON."""
        unused = [[kind, name, n] for (kind, name), n in sorted(self.unused.items())]
        return {"logged": sorted(self.logged), "ended": self.ended, "unused": unused}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore from what `state` returned."""
        self.logged, self.ended = set(state["logged"]), state["ended"]
        self.unused.update({(kind, name): n for kind, name, n in state["unused"]})

    def layout(self, keys: list[bytes], prefix: str = "") -> Layout:
        """The layout of raw `keys`; metric names get `prefix`. Raises ValueError or IndexError."""
        known: tuple[str | bytes, ...] = (prefix, *keys)
        if known not in self.layouts:
            if len(self.layouts) >= MAX_LAYOUTS:
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
        """Add one row of JSON values; with `new_only`, only the numbers of metrics that have no point yet.

        `step` and `time` (seconds) are used if the row itself has none. Raises ValueError if a value is not JSON.
        """
        values = parsed(raw)
        axes = {name: number(values[at]) for name, at in layout.axes.items() if isinstance(values[at], int | float)}
        step, time = _step_or(axes.get("_step"), step), axes.get("_timestamp") or time
        found: list[tuple[str, float]] = []
        lost: list[tuple[str, str]] = []
        objects = [(name, rebuilt(parts, values)) for name, parts in layout.objects.items()]
        for at, name in layout.metrics:
            value = values[at]
            if type(value) is float:
                found.append((name, value))
            elif value is not None:
                collect(name, value, found, objects, lost)
        rows = [(name, value, histogram_row(value)) for name, value in objects]
        lost += [(unused_kind(value), name) for name, value, row in rows if row is None]
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
        """Count values that give no row, by kind and name."""
        for (kind, name), n in lost.items():
            known = (kind, name) in self.unused or len(self.unused) < MAX_UNUSED_NAMES
            self.unused[kind, name if known else "…"] += n

    def add_columns(self, found: Columns, names: list[str | None]) -> None:
        """Add many rows; their codes are positions in `names`."""
        if not len(found.places):
            return
        codes = np.array([-1 if name is None else self._code(name) for name in names], np.int64)
        self.columns.append(found._replace(codes=codes[found.codes]))
        self.ended = max(self.ended, float(np.nanmax(found.times, initial=0.0)))

    def take(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows as `points` and `distributions` frames, and clear them."""
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
        """All rows, with their points in file order."""
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


def _step_or(value: float | None, otherwise: int | None) -> int | None:
    return int(value) if value is not None and abs(value) < 2**63 else otherwise
