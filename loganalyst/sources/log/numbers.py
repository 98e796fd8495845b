"""The numbers of a batch of log lines: records (one a line or block) and the points that belong to them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.sources.log.shapes import Shape
from loganalyst.sources.log.steps import POINTS, RECORDS

_FLAGS = ("bar", "keras", "held_out", "header")
_POSITIONS = ("step", "batch", "total", "epoch")
_EXACT = 2**53  # above it a Float64 counts no steps


@dataclass
class Numbers:
    """Collects the numbers of one batch; `code` numbers the metrics' names.

    `row` is the row of a record (a block's last), `at` that of a number, both positions in the batch.
    """

    code: Callable[[str], int]
    records: list[pl.DataFrame] = field(default_factory=list)
    points: list[pl.DataFrame] = field(default_factory=list)
    said: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, shape: Shape, rows: NDArray[np.int64], slots: list[NDArray[np.float64]]) -> None:
        """Lines of one shape: their rows, and their numbers by slot."""
        metrics = [slot for slot in shape.slots if slot.role == "metric"]
        position: dict[str, NDArray[np.float64]] = {
            slot.role: slots[slot.index] for slot in shape.slots if slot.role != "metric"
        }
        self.said.append(rows)
        self.records.append(
            pl.DataFrame({"row": rows}).with_columns(
                *(pl.lit(getattr(shape, flag)).alias(flag) for flag in _FLAGS),
                *(_counters(role, position.get(role)) for role in _POSITIONS),
                series=pl.lit(self.code(metrics[0].name) if metrics else None, pl.UInt32),
            )
        )  # fmt: skip
        if metrics:
            at = np.repeat(rows, len(metrics))
            codes = np.array([self.code(slot.name) for slot in metrics], np.uint32)
            value = np.stack([slots[slot.index] for slot in metrics], axis=1).ravel()
            columns = {"row": at, "at": at, "metric": np.tile(codes, len(rows)), "value": value}
            self.points.append(pl.DataFrame(columns))

    def add_long(self, numbers: pl.DataFrame) -> None:
        """Numbers one a row, in the schema of `logtables`, in file order."""
        if not numbers.height:
            return
        names = numbers.filter(pl.col("role") == "metric")["name"].unique(maintain_order=True).to_list()
        code = {name: self.code(name) for name in names}
        numbers = numbers.with_columns(
            pl.col("row", "at").cast(pl.Int64),
            metric=pl.col("name").replace_strict(code, default=None, return_dtype=pl.UInt32),
        )
        self.said.append(numbers["at"].unique().to_numpy())
        metric = pl.col("role") == "metric"
        self.records.append(
            numbers.group_by("row", maintain_order=True).agg(
                pl.col(*_FLAGS).first(),
                *(_first(role) for role in _POSITIONS),
                series=pl.col("metric").filter(metric).first(),
            )
        )
        self.points.append(numbers.filter(metric).select("row", "at", "metric", "value"))

    def drop(self, at: NDArray[np.int64]) -> None:
        """Leave out what stands at these rows, where each record is a line of its own."""
        rows = pl.Series(at)
        self.records = [r.filter(~pl.col("row").is_in(rows.implode())) for r in self.records]
        self.points = [p.filter(~pl.col("at").is_in(rows.implode())) for p in self.points]
        self.said = [s[~np.isin(s, at)] for s in self.said]

    def rows(self) -> NDArray[np.int64]:
        """The rows that hold a number, in no order."""
        return np.concatenate(self.said) if self.said else np.empty(0, np.int64)

    def placed(
        self, first: int, session: NDArray[np.int64], line: NDArray[np.int64], time: NDArray[np.datetime64]
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Records and points in the schemas of `logsteps`, in file order; `first` is the number of the batch's first
        row in the log, the arrays tell of each row of the batch.
        """
        if not self.records:
            return pl.DataFrame(schema=RECORDS), pl.DataFrame(schema=POINTS)
        records, points = (pl.concat(parts) if parts else None for parts in (self.records, self.points))
        assert records is not None
        if len(self.records) > 1:
            records = records.sort("row", maintain_order=True)
        records = records.with_columns(pl.Series("session", session[records["row"].to_numpy()], pl.Int32))
        if points is None:
            points = pl.DataFrame(schema=POINTS)
        else:
            points = points.sort("row", maintain_order=True) if len(self.points) > 1 else points
            at = points["at"].to_numpy()
            stamp = pl.Series("time", time[at], pl.Datetime("us")).dt.replace_time_zone("UTC")
            points = points.with_columns(pl.Series("line", line[at]), stamp)
        row = pl.col("row") + first
        return records.with_columns(row).select(RECORDS.names()), points.with_columns(row).select(POINTS.names())


def _counters(role: str, values: NDArray[np.float64] | None) -> pl.Expr:
    if values is None:
        return pl.lit(None, pl.Float64).alias(role)
    return _counter(pl.lit(pl.Series(values))).alias(role)


def _counter(value: pl.Expr) -> pl.Expr:
    return pl.when(value.abs() < _EXACT).then(value)


def _first(role: str) -> pl.Expr:
    return _counter(pl.col("value").filter(pl.col("role") == role).first()).alias(role)
