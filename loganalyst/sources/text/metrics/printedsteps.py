"""The step of each printed record: one step axis per session from epochs, counters and steps, or a running index.

How a session counts is known only at its end, so its numbers wait (`tablespool`). Sums for that choice are kept as they
come (`stepchoices`); then the numbers are placed block by block.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from loganalyst.model import SCHEMAS, Time, constant
from loganalyst.sources.text.lines.numberrecords import (  # fmt: skip
    Counted,
    Floats,
    Grouping,
    Integers,
    Mask,
    Points,
    Records,
    changes,
    counted,
    filled,
)
from loganalyst.sources.text.lines.tablespool import Spool
from loganalyst.sources.text.metrics.stepchoices import Choices, Groups, Key, number
from loganalyst.sources.text.sizes import SIZES, Sizes


def schema_of(**columns: pl.DataType | type[pl.DataType]) -> pl.Schema:
    """The schema of a frame with these columns."""
    return pl.Schema(columns)


_WAITING = schema_of(
    row=pl.Int64, session=pl.Int32, metric=pl.UInt32, step=pl.Int64, epoch=pl.Float64, time=Time,
    value=pl.Float64, line=pl.Int64, refreshed=pl.Boolean,
)  # fmt: skip
# state of a new series: its last counter, its passes over the data, its length, its last counter within held-out data
_NEW_SERIES = (np.nan, 0, 0, np.nan)
_MAX_STEP = 2.0**63  # a Float64 from here on is no Int64


class Carry(msgspec.Struct):
    """The state that passes from one block to the next.

    For each series of the last session its counters, passes and length; the last session and its last step; the number
    of points of each metric; the total of the last step; the refreshes that may be overwritten.
    """

    series: dict[Key, tuple[float, int, int, float]] = msgspec.field(default_factory=dict)
    session: int = -1
    step: float = np.nan
    counts: dict[tuple[int, int], int] = msgspec.field(default_factory=dict)
    pass_: tuple[int, float, float] = (-1, np.nan, np.nan)
    waiting: pl.DataFrame = msgspec.field(default_factory=lambda: pl.DataFrame(schema=_WAITING))


@dataclass
class Steps:
    """Takes the numbers of a log batch by batch (`add`) and gives its points at the end (`points`).

    `names` are the metrics by code. After `settle` the numbers added so far are final.
    """

    names: dict[str, int] = field(default_factory=dict)
    groups: Groups = field(default_factory=Groups)
    carry: Carry = field(default_factory=Carry)
    opened: tuple[int, float] = (-1, np.nan)  # session and epoch of the last header
    earlier: tuple[Groups, Choices] | None = None  # settled groups and choices of the reading that this one continues
    kept: int = 0
    settled: Spool = field(init=False)
    pending: list[tuple[Records, Points]] = field(default_factory=list)
    tail: list[tuple[Records, Points]] = field(default_factory=list)
    state: Mapping[str, Any] = field(default_factory=dict)  # after `points`: the start of the next reading
    sizes: Sizes = SIZES

    def __post_init__(self) -> None:
        self.settled = Spool(self.sizes.waiting)

    def code(self, name: str) -> int:
        """The number of a metric's name."""
        return self.names.setdefault(name, len(self.names))

    def add(self, records: Records, points: Points) -> None:
        """Keep the records and points of a batch, in file order."""
        if len(records):
            self.tail.append((records, points))

    def settle(self) -> None:
        """The numbers added so far will not be read again."""
        self.pending += self.tail
        self.tail = []
        if any(sum(map(len, tables)) > self.sizes.block for tables in zip(*self.pending, strict=True)):
            self._flush()

    def points(self) -> Iterator[pl.DataFrame]:
        """The points in the `points` schema, in file order within a metric. Raises StartAgainError."""
        self._flush()
        settled, self.groups = self.groups, self.groups.copy()
        opened, unsettled = self.opened, list(self._blocks(self.tail))
        choices = self.groups.choices()
        if self.earlier is not None:
            passed = any(passes > 0 for _, passes, *_ in self.carry.series.values())
            self.earlier[0].check(self.earlier[1], choices, passed=passed)
        for records, points in self.settled:
            for frame in self._placed(records, points, choices):
                self.kept += frame.height
                yield frame
        self.state = {
            "names": list(self.names), "groups": settled.state(), "choices": choices.state(),
            "opened": [opened[0], number(opened[1])], "carry": _carry_state(self.carry),
        }  # fmt: skip
        for records, points in unsettled:
            yield from self._placed(records, points, choices)
        if self.carry.waiting.height:
            yield self._as_points(self.carry.waiting.sort("row", maintain_order=True))

    @classmethod
    def from_state(cls, state: Mapping[str, Any], kept: int, sizes: Sizes = SIZES) -> "Steps":
        """Steps that go on where others stopped."""
        carry = state["carry"]
        return cls(
            names={name: code for code, name in enumerate(state["names"])},
            groups=Groups.from_state(state["groups"]),
            earlier=(Groups.from_state(state["groups"]), Choices.from_state(state["choices"])),
            opened=(state["opened"][0], _float(state["opened"][1])),
            kept=kept,
            sizes=sizes,
            carry=Carry(
                series={tuple(key): (_float(i), *others, _float(b)) for key, (i, *others, b) in carry["series"]},
                session=carry["session"],
                step=_float(carry["step"]), counts={tuple(k): n for k, n in carry["counts"]},
                pass_=(carry["pass"][0], *map(_float, carry["pass"][1:])),
                waiting=pl.DataFrame(carry["waiting"], {**_WAITING, "time": pl.Int64}, orient="row").cast(_WAITING),
            ),
        )  # fmt: skip

    def _flush(self) -> None:
        """Move the settled numbers to the spool."""
        for block in self._blocks(self.pending):
            self.settled.add(block)
        self.pending = []

    def _blocks(self, parts: list[tuple[Records, Points]]) -> Iterator[tuple[Counted, Points]]:
        """Records with their epochs, summed up, and their points: at most a block of either, plus a last row."""
        if not parts:
            return
        records, points = Records.joined([r for r, _ in parts]), Points.joined([p for _, p in parts])
        last = max(records.row, points.row, key=len)[self.sizes.block :: self.sizes.block]
        ends = [np.searchsorted(row, last, "right").tolist() for row in (records.row, points.row)]
        cuts = [pairwise([0, *ends[0], len(records)]), pairwise([0, *ends[1], len(points)])]
        for rows, numbers in zip(*cuts, strict=True):
            counted = self._epochs(records[slice(*rows)])
            self.groups.add(counted)
            yield counted, points[slice(*numbers)]

    def _epochs(self, records: Records) -> Counted:
        """Records with the epoch that a header opened before them; the headers are dropped."""
        known = np.where(records.session == self.opened[0], self.opened[1], np.nan)
        opened = filled(np.where(records.header, records.epoch, np.nan), records.session, known)
        if len(records):
            self.opened = (int(records.session[-1]), float(opened[-1]))
        stepped, batched = ~np.isnan(records.step), ~np.isnan(records.batch)
        i = np.where(stepped, records.step, np.where(records.held_out, np.nan, records.batch))
        epoch = np.where(np.isnan(records.epoch) & ~stepped, opened, records.epoch)
        # a bar or a pass over held-out data with its counter overwrites the one before
        refreshed = records.bar | (records.held_out & batched)
        counted = Counted(
            records.row, records.session, records.series, records.keras, records.held_out, stepped, ~np.isnan(epoch),
            refreshed, records.total, i, epoch, np.where(records.held_out, records.batch, np.nan),
        )  # fmt: skip
        return counted[~records.header] if records.header.any() else counted

    def _placed(self, records: Counted, points: Points, choices: Choices) -> Iterator[pl.DataFrame]:
        """The points of a block that can no longer be overwritten."""
        if not len(records):
            return
        step = self._steps(records, choices)
        if not len(points):
            return
        first = np.flatnonzero(changes(points.row))
        record = np.repeat(np.searchsorted(records.row, points.row[first]), np.diff(first, append=len(points)))
        whole = np.trunc(step)
        whole[~(np.abs(whole) < _MAX_STEP)] = np.nan
        session = records.session[record]
        step = self._indexed(session, points.metric, whole[record])
        found = pl.DataFrame([
            pl.Series("row", points.row), pl.Series("session", session.astype(np.int32)),
            pl.Series("metric", points.metric), pl.Series("step", step.astype(np.int64)),
            _epoch_column(records.epoch, record),
            pl.Series("time", points.time).cast(Time), pl.Series("value", points.value), pl.Series("line", points.line),
            pl.Series("refreshed", records.refreshed[record]),
        ])  # fmt: skip
        other = self._other_pass(session, step, records.total[record], records.keras[record])
        found = self._last_states(found.filter(~other) if other.any() else found)
        if found.height:
            yield self._as_points(found)

    def _steps(self, records: Counted, choices: Choices) -> Floats:
        """The step of each record, NaN where it has none."""
        groups, known = Grouping.by(records.session, records.series), self.carry.series
        i, epoch, total = (column[groups.order] for column in (records.i, records.epoch, records.total))
        stepped, keras = records.stepped[groups.order], records.keras[groups.order]
        before = [known.get(key, _NEW_SERIES) for key in groups.keys]
        spans = [choices.sessions[session] for session, _ in groups.keys]
        last = np.roll(i, 1)
        last[groups.starts] = [i0 for i0, *_ in before]
        # without an epoch a counter that goes back is the next pass over the data
        passes = np.cumsum((i < last) & ~stepped)
        passes += groups.spread([passes0 for _, passes0, *_ in before], np.int64) - groups.spread(
            np.concatenate([[0], passes])[groups.starts], np.int64
        )
        index = self._index(groups, records.batch[groups.order], before)
        length = np.where(np.isnan(total), groups.spread([length for length, *_ in spans]), total)
        first = groups.spread([first for _, first, *_ in spans])
        restarts = groups.spread([choices.series[key][0] for key in groups.keys], np.bool_)
        # counters that start again with each epoch (or each bar) become steps that go on
        unplaced = np.isnan(epoch) & ~stepped
        step = np.where(unplaced, passes * length + i, i)
        step = np.where(restarts, np.floor(epoch - first) * length + i, step)
        step = np.where(keras & ~np.isnan(epoch), epoch, step)
        ends = groups.starts + groups.sizes - 1
        batch = records.batch[groups.order][ends].tolist()
        after = zip(i[ends].tolist(), passes[ends].tolist(), (index[ends] + 1).tolist(), batch, strict=True)
        self._pass_on(dict(zip(groups.keys, after, strict=True)), int(records.session[-1]))
        return self._filled(records, groups, groups.rows(step), groups.rows(index), choices)

    @staticmethod
    def _index(groups: Grouping, batch: Floats, before: list[tuple[float, int, int, float]]) -> Integers:
        """The running index of the records in each series; the batches of one pass over held-out data share theirs."""
        last = np.roll(batch, 1)
        last[groups.starts] = [batch0 for *_, batch0 in before]
        new = np.cumsum(~(batch > last))
        begin = np.concatenate([[0], new])[groups.starts]
        index: Integers = (
            new - 1 + groups.spread([n for _, _, n, _ in before], np.int64) - groups.spread(begin, np.int64)
        )
        return index

    def _pass_on(self, ends: dict[Key, tuple[float, int, int, float]], session: int) -> None:
        """Carry the state of the last session's series to the next block."""
        both = {**self.carry.series, **ends}
        self.carry.series = {key: end for key, end in both.items() if key[0] == session}

    def _filled(self, records: Counted, groups: Grouping, step: Floats, index: Integers, choices: Choices) -> Floats:
        """Steps of records without a step of their own: the last one seen.

        Where a session has no steps: the epoch, or the part of it by the length that bars show, or an index in the most
        frequent series that has neither.
        """
        sessions = [choices.sessions[session] for session, _ in groups.keys]
        pace = groups.rows(groups.spread([choices.paces.get(session, np.nan) for session, _ in groups.keys]))
        any_step, epochal, clock = (
            groups.rows(groups.spread(flags, np.bool_))
            for flags in (
                [s[2] for s in sessions],
                [s[3] for s in sessions],
                [choices.series[k][1] for k in groups.keys],
            )
        )
        alone = np.isnan(step) & ~any_step
        paced = ~np.isnan(pace)
        if alone.any():
            step = np.where(alone & clock & ~paced, index, step)
            step = np.where(alone & epochal, records.epoch, step)
            step = np.where(alone & paced, np.rint(records.epoch * pace), step)
        known = np.where(records.session == self.carry.session, self.carry.step, np.nan)
        last = filled(step, records.session, known)
        self.carry.step, self.carry.session = float(last[-1]), int(records.session[-1])
        return np.where(records.has_epoch | records.held_out | any_step | epochal | paced, last, step)

    def _indexed(self, session: Integers, metric: NDArray[np.uint32], step: Floats) -> Floats:
        """The steps; where there is none at all, a running index per session and metric."""
        counts = self.carry.counts
        if np.isnan(step).any():
            groups = Grouping.by(session, metric)
            begin = groups.spread([counts.get(key, 0) for key in groups.keys]) - groups.spread(groups.starts)
            step = np.where(np.isnan(step), groups.rows(np.arange(len(step)) + begin), step)
        for key, n in counted(session, metric).items():
            counts[key] = counts.get(key, 0) + n
        self.carry.counts = {key: n for key, n in counts.items() if key[0] == self.carry.session}
        return step

    def _other_pass(self, session: Integers, step: Floats, total: Floats, keras: Mask) -> Mask:
        """Which records of a Keras epoch have another total than its first pass: those over held-out data."""
        runs = np.flatnonzero(changes(session, step))
        first = total[runs]
        if (session[0], step[0]) == self.carry.pass_[:2]:
            first[0] = self.carry.pass_[2]
        self.carry.pass_ = (int(session[-1]), float(step[-1]), float(first[-1]))
        if not keras.any():
            return keras
        kept: Mask = (total == np.repeat(first, np.diff(runs, append=len(step)))) | np.isnan(total)
        return keras & ~kept

    def _last_states(self, points: pl.DataFrame) -> pl.DataFrame:
        """The last refresh of a bar within each step; refreshes that may yet be overwritten wait."""
        if not points["refreshed"].any() and not self.carry.waiting.height:
            return points
        points = pl.concat([self.carry.waiting, points]).with_columns(
            follows=pl.col("row").shift(-1).over("metric"),
            again=((pl.col("step").shift(-1) == pl.col("step")) & (pl.col("session").shift(-1) == pl.col("session")))
            .over("metric")
            .fill_null(value=False),
        )  # fmt: skip
        points = points.filter(~(pl.col("refreshed") & pl.col("again")))
        waits = pl.col("refreshed") & pl.col("follows").is_null()
        self.carry.waiting = points.filter(waits).select(_WAITING.names())
        final = points.filter(~waits)
        # in the order in which they became final, which does not depend on how the file is cut into blocks
        settled = pl.when("refreshed").then("follows").otherwise("row")
        return final.sort(settled, "row", maintain_order=True).select(_WAITING.names())

    def _as_points(self, points: pl.DataFrame) -> pl.DataFrame:
        """Points in the `points` schema."""
        metric = pl.Series(list(self.names), dtype=pl.String).gather(points["metric"]).alias("metric")
        source = constant(None, points.height, pl.String).alias("source")
        others = (points[name] for name in ("session", "step", "epoch", "time", "value", "line"))
        return pl.DataFrame([metric, source, *others])[SCHEMAS["points"].names()]


def _epoch_column(known: Floats, record: Integers) -> pl.Series:
    """The epoch of each point, NULL where it is not known. A column of NULL takes no memory."""
    if np.isnan(known).all():
        return constant(None, len(record), pl.Float64).alias("epoch")
    return pl.Series("epoch", known[record], nan_to_null=True)


def _float(value: float | None) -> float:
    return np.nan if value is None else value


def _carry_state(carry: Carry) -> Mapping[str, Any]:
    """The carried state as plain JSON."""
    return {
        "series": [[list(k), [number(i), *others, number(b)]] for k, (i, *others, b) in carry.series.items()],
        "session": carry.session, "step": number(carry.step),
        "counts": [[list(k), n] for k, n in carry.counts.items()],
        "pass": [carry.pass_[0], *map(number, carry.pass_[1:])],
        "waiting": [list(row) for row in carry.waiting.cast({"time": pl.Int64}).iter_rows()],
    }  # fmt: skip
