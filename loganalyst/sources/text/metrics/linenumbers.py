"""The numbers of a batch of log lines: records (one a line or block) and the points that belong to them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines.numberrecords import NONE, Floats, Integers, Mask, Points, Records
from loganalyst.sources.text.metrics.lineshapes import Shape

_FLAGS = ("bar", "keras", "held_out", "header")
_POSITIONS = ("step", "batch", "total", "epoch")
_EXACT = 2**53  # above it a Float64 counts no steps
_NO = {kind: np.empty(0, kind) for kind in ("i8", "u4", "f8", "?", "M8[us]")}
_NO_RECORDS = Records(*(_NO["i8"],) * 3, *(_NO["?"],) * 4, *(_NO["f8"],) * 4)
_NO_POINTS = Points(_NO["i8"], _NO["u4"], _NO["f8"], _NO["i8"], _NO["M8[us]"])


@dataclass
class Numbers:
    """Collects the numbers of one batch; `code` numbers the metrics' names.

    Rows are positions in the batch: of a record (a block's last), and, as the line of a point, where the number stands.
    Sessions and times are not known yet.
    """

    code: Callable[[str], int]
    records: list[Records] = field(default_factory=list)
    points: list[Points] = field(default_factory=list)
    said: list[Integers] = field(default_factory=list)

    def add(self, shape: Shape, rows: Integers, slots: list[Floats]) -> None:
        """Lines of one shape: their rows, and their numbers by slot."""
        codes = [self.code(slot.name) for slot in shape.slots if slot.role == "metric"]
        values = [slots[slot.index] for slot in shape.slots if slot.role == "metric"]
        counters = {slot.role: slots[slot.index] for slot in shape.slots if slot.role != "metric"}
        self._add(
            rows, np.full(len(rows), codes[0] if codes else NONE),
            [np.full(len(rows), getattr(shape, flag)) for flag in _FLAGS],
            [_counter(counters[role]) if role in counters else np.full(len(rows), np.nan) for role in _POSITIONS],
        )  # fmt: skip
        if codes:
            at, metric = np.repeat(rows, len(codes)), np.tile(np.array(codes, np.uint32), len(rows))
            self._add_points(at, at, metric, np.stack(values, axis=1).ravel())
        self.said.append(rows)

    def add_long(self, numbers: pl.DataFrame) -> None:
        """Numbers one a row, in the schema of `tables`, in file order."""
        if not numbers.height:
            return
        names = numbers.filter(pl.col("role") == "metric")["name"].unique(maintain_order=True).to_list()
        code = {name: self.code(name) for name in names}
        numbers = numbers.with_columns(
            pl.col("row", "at").cast(pl.Int64),
            metric=pl.col("name").replace_strict(code, default=None, return_dtype=pl.UInt32),
        )
        metric = pl.col("role") == "metric"
        records = numbers.group_by("row", maintain_order=True).agg(
            pl.col(*_FLAGS).first(),
            *(pl.col("value").filter(pl.col("role") == role).first().alias(role) for role in _POSITIONS),
            series=pl.col("metric").filter(metric).first().cast(pl.Int64).fill_null(NONE),
        )
        self._add(
            records["row"].to_numpy(), records["series"].to_numpy(), [records[flag].to_numpy() for flag in _FLAGS],
            [_counter(records[role].fill_null(np.nan).to_numpy()) for role in _POSITIONS],
        )  # fmt: skip
        points = numbers.filter(metric)
        self._add_points(*(points[name].to_numpy() for name in ("row", "at", "metric", "value")))
        self.said.append(numbers["at"].unique().to_numpy())

    def _add(self, rows: Integers, series: Integers, flags: list[Mask], counters: list[Floats]) -> None:
        bar, keras, held_out, header = flags
        session = np.zeros(len(rows), np.int64)
        self.records.append(Records(rows, session, series, bar, keras, held_out, header, *counters))

    def _add_points(self, rows: Integers, at: Integers, metric: NDArray[np.uint32], value: Floats) -> None:
        self.points.append(Points(rows, metric, value, at, np.empty(len(rows), "M8[us]")))

    def drop(self, at: Integers) -> None:
        """Leave out what stands at these rows, where each record is a line of its own."""
        self.records = [r[~np.isin(r.row, at)] for r in self.records]
        self.points = [p[~np.isin(p.line, at)] for p in self.points]
        self.said = [s[~np.isin(s, at)] for s in self.said]

    def rows(self) -> Integers:
        """The rows that hold a number, in no order."""
        return np.concatenate(self.said) if self.said else np.empty(0, np.int64)

    def placed(
        self, first: int, session: Integers, line: Integers, time: NDArray[np.datetime64]
    ) -> tuple[Records, Points]:
        """Records and points in file order; `first` is the number of the batch's first row in the log, the arrays tell
        of each row of the batch.
        """
        records, points = Records.joined(self.records or [_NO_RECORDS]), Points.joined(self.points or [_NO_POINTS])
        if len(self.records) > 1:
            records = records[np.argsort(records.row, kind="stable")]
        if len(self.points) > 1:
            points = points[np.argsort(points.row, kind="stable")]
        at = points.line
        return (
            replace(records, row=records.row + first, session=session[records.row]),
            replace(points, row=points.row + first, line=line[at], time=time[at]),
        )


def _counter(values: Floats) -> Floats:
    """NaN where it is too large to count."""
    return np.where(np.abs(values) < _EXACT, values, np.nan)
