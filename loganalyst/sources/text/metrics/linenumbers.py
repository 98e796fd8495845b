"""The numbers of a batch of log lines: records (one a line or block) and the points that belong to them."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.text.lines.numberrecords import NONE, Floats, Integers, Mask, Points, Records
from loganalyst.sources.text.metrics import correctshares
from loganalyst.sources.text.metrics.lineshapes import Shape, Slot

_FLAGS = ("bar", "keras", "held_out", "header")
_POSITIONS = ("step", "batch", "total", "epoch")
_MAX_COUNTER = 2**53  # above this number a Float64 does not hold all steps
PERCENTAGE_ROUNDED = 1.0  # points of per cent by which a printed percentage may differ from its count: `98%`, cut off
_EMPTY = {kind: np.empty(0, kind) for kind in ("i8", "u4", "f8", "?", "M8[us]")}
_NO_RECORDS = Records(*(_EMPTY["i8"],) * 3, *(_EMPTY["?"],) * 4, *(_EMPTY["f8"],) * 4)
_NO_POINTS = Points(_EMPTY["i8"], _EMPTY["u4"], _EMPTY["f8"], _EMPTY["i8"], _EMPTY["M8[us]"])


class Numbers(msgspec.Struct):
    """Collects the numbers of one batch; `code` numbers the names of metrics.

    Rows are positions in the batch. A record's row is that of its block's last line; a point's line is the row that
    holds the number. Sessions and times are added later.
    """

    code: Callable[[str], int]
    records: list[Records] = msgspec.field(default_factory=list)
    points: list[Points] = msgspec.field(default_factory=list)
    number_rows: list[Integers] = msgspec.field(default_factory=list)

    def add(self, shape: Shape, rows: Integers, slots: list[Floats]) -> None:
        """Add lines of one shape: their rows, and their numbers by slot."""
        codes = [self.code(slot.name) for slot in shape.slots if slot.role == "metric"]
        values = [_share(slots, slot) for slot in shape.slots if slot.role == "metric"]
        counters = {slot.role: slots[slot.index] for slot in shape.slots if slot.role != "metric"}
        self._add(
            rows, np.full(len(rows), codes[0] if codes else NONE),
            [np.full(len(rows), getattr(shape, flag)) for flag in _FLAGS],
            [_counter(counters[role]) if role in counters else np.full(len(rows), np.nan) for role in _POSITIONS],
        )  # fmt: skip
        if codes:
            at, metric = np.repeat(rows, len(codes)), np.tile(np.array(codes, np.uint32), len(rows))
            self._add_points(at, at, metric, np.stack(values, axis=1).ravel())
        self.number_rows.append(rows)

    def add_long(self, numbers: pl.DataFrame) -> None:
        """Add numbers, one a row, in the schema of `printedtables`, in file order."""
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
        self.number_rows.append(numbers["at"].unique().to_numpy())

    def _add(self, rows: Integers, series: Integers, flags: list[Mask], counters: list[Floats]) -> None:
        bar, keras, held_out, header = flags
        session = np.zeros(len(rows), np.int64)
        self.records.append(Records(rows, session, series, bar, keras, held_out, header, *counters))

    def _add_points(self, rows: Integers, at: Integers, metric: NDArray[np.uint32], value: Floats) -> None:
        self.points.append(Points(rows, metric, value, at, np.empty(len(rows), "M8[us]")))

    def drop(self, at: Integers) -> None:
        """Remove the numbers in these rows; each of these records must be one line."""
        self.records = [r[~np.isin(r.row, at)] for r in self.records]
        self.points = [p[~np.isin(p.line, at)] for p in self.points]
        self.number_rows = [s[~np.isin(s, at)] for s in self.number_rows]

    def count_answers(self) -> None:
        """Turn counts that are no progress into shares of correct answers."""
        for k, records in enumerate(self.records):
            some = correctshares.counted(records)
            if some is not None:
                code = self.code(correctshares.NAME)
                self.records[k], shares = correctshares.as_results(records, some, code)
                at = records.row[some]
                self._add_points(at, at, np.full(len(at), code, np.uint32), shares)

    def rows(self) -> Integers:
        """The rows that hold a number, in no order."""
        return np.concatenate(self.number_rows) if self.number_rows else np.empty(0, np.int64)

    def placed(
        self, first: int, session: Integers, line: Integers, time: NDArray[np.datetime64]
    ) -> tuple[Records, Points]:
        """Records and points in file order. `first` is the number of the batch's first row in the log; the arrays hold
        a value for each row of the batch.
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


def _share(slots: list[Floats], slot: Slot) -> Floats:
    """The numbers of a slot, counts as shares of their totals, and percentages with all their digits."""
    if slot.over is None:
        return slots[slot.index]
    total = slots[slot.over]
    if slot.count is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            return slots[slot.index] / total
    return exact_percentage(slots[slot.index], slots[slot.count], total)


def exact_percentage(printed: Floats, count: Floats, total: Floats) -> Floats:
    """`100 count / total`, which has more digits than the printed percentage; as printed where they contradict.

    >>> exact_percentage(np.array([98.0, 71.0]), np.array([9829.0, 3.0]), np.array([10000.0, 60.0]))
    array([98.29, 71.  ])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = 100 * count / total
    rounded = np.abs(exact - printed) <= PERCENTAGE_ROUNDED
    return np.where(rounded, exact, printed)


def _counter(values: Floats) -> Floats:
    """The counters; NaN where one is too large to count."""
    return np.where(np.abs(values) < _MAX_COUNTER, values, np.nan)
