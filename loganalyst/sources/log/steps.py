"""Where each printed record stands: one step axis a session from epochs, counters and steps, or a running index.

How a session counts is known only at its end, so its numbers wait (`logspool`); what is needed to choose is summed up
as they come (`logchoices`), and they are placed block by block.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from loganalyst.model import SCHEMAS, Time
from loganalyst.sources.log.choices import Choices, Groups
from loganalyst.sources.log.spool import Spool

BLOCK = 1 << 18  # records or points that are placed at once


def schema_of(**columns: pl.DataType | type[pl.DataType]) -> pl.Schema:
    """The schema of a frame with these columns."""
    return pl.Schema(columns)


RECORDS = schema_of(
    row=pl.Int64, session=pl.Int32, bar=pl.Boolean, keras=pl.Boolean, held_out=pl.Boolean,
    header=pl.Boolean, step=pl.Float64, batch=pl.Float64, total=pl.Float64, epoch=pl.Float64,
    series=pl.UInt32,
)  # fmt: skip
POINTS = schema_of(row=pl.Int64, metric=pl.UInt32, value=pl.Float64, line=pl.Int64, time=Time)
_WAITING = schema_of(
    row=pl.Int64, session=pl.Int32, metric=pl.UInt32, step=pl.Int64, epoch=pl.Float64, time=Time,
    value=pl.Float64, line=pl.Int64, refreshed=pl.Boolean,
)  # fmt: skip
_SERIES = pl.Schema(
    {"session": pl.Int32, "series": pl.UInt32, "i0": pl.Float64, "passes0": pl.Int64, "index0": pl.Int64}
)
_COUNTS = pl.Schema({"session": pl.Int32, "metric": pl.UInt32, "count": pl.Int64})
_GROUP = ("session", "series")


@dataclass
class Carry:
    """What passes from one block to the next: of each series of the last session its counter, passes and length; its
    last step; how many points each metric has; the total of the last step; the refreshes that may be overwritten.
    """

    series: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_SERIES))
    session: int = -1
    step: int | None = None
    counts: dict[tuple[int, int], int] = field(default_factory=dict)
    pass_: tuple[int, int, float | None] | None = None
    waiting: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_WAITING))


@dataclass
class Steps:
    """Takes the numbers of a log batch by batch (`add`) and gives its points at the end (`points`).

    `names` are the metrics by code. `settle` says that what was added is read for good.
    """

    names: dict[str, int] = field(default_factory=dict)
    groups: Groups = field(default_factory=Groups)
    carry: Carry = field(default_factory=Carry)
    opened: tuple[int, float | None] = (-1, None)  # session and epoch of the last header
    earlier: tuple[Groups, Choices] | None = None  # of the reading that this one goes on from: what it settled, chose
    kept: int = 0
    settled: Spool = field(default_factory=Spool)
    near: list[tuple[pl.DataFrame, pl.DataFrame]] = field(default_factory=list)
    tail: list[tuple[pl.DataFrame, pl.DataFrame]] = field(default_factory=list)
    state: Mapping[str, Any] = field(default_factory=dict)  # after `points`: what the next reading starts from

    def code(self, name: str) -> int:
        """The number of a metric's name."""
        return self.names.setdefault(name, len(self.names))

    def add(self, records: pl.DataFrame, points: pl.DataFrame) -> None:
        """Keep the records and points of a batch, in the schemas RECORDS and POINTS, in file order."""
        if records.height:
            self.tail.append((records, points))

    def settle(self) -> None:
        """What was added will not be read again."""
        self.near += self.tail
        self.tail = []
        if any(sum(map(len, frames)) > BLOCK for frames in zip(*self.near, strict=True)):
            self._flush()

    def points(self) -> Iterator[pl.DataFrame]:
        """The points in the `points` schema, in file order within a metric. Raises StartAgainError."""
        self._flush()
        settled, self.groups = self.groups, self.groups.copy()
        rest = Spool()
        opened = self.opened
        for block in self._blocks(self.tail):
            rest.add(block)
        choices = self.groups.choices()
        if self.earlier is not None:
            self.earlier[0].check(self.earlier[1], choices, passed=bool((self.carry.series["passes0"] > 0).any()))
        for records, points in self.settled:
            for frame in self._placed(records, points, choices):
                self.kept += frame.height
                yield frame
        self.state = {
            "names": list(self.names), "groups": settled.state(), "choices": choices.state(), "opened": opened,
            "carry": _carry_state(self.carry),
        }  # fmt: skip
        for records, points in rest:
            yield from self._placed(records, points, choices)
        if self.carry.waiting.height:
            yield self._shown(self.carry.waiting.sort("row", maintain_order=True))

    @classmethod
    def from_state(cls, state: Mapping[str, Any], kept: int) -> "Steps":
        """One that goes on where another stopped."""
        carry = state["carry"]
        return cls(
            names={name: code for code, name in enumerate(state["names"])},
            groups=Groups.from_state(state["groups"]),
            earlier=(Groups.from_state(state["groups"]), Choices.from_state(state["choices"])),
            opened=tuple(state["opened"]),
            kept=kept,
            carry=Carry(
                series=pl.DataFrame(carry["series"], _SERIES, orient="row"), session=carry["session"],
                step=carry["step"], counts={tuple(k): n for k, n in carry["counts"]}, pass_=_tuple(carry["pass"]),
                waiting=pl.DataFrame(carry["waiting"], {**_WAITING, "time": pl.Int64}, orient="row").cast(_WAITING),
            ),
        )  # fmt: skip

    def _flush(self) -> None:
        for block in self._blocks(self.near):
            self.settled.add(block)
        self.near = []

    def _blocks(self, parts: list[tuple[pl.DataFrame, pl.DataFrame]]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Records with their epochs, summed up, and their points, at most BLOCK of either but for a last row."""
        if not parts:
            return
        both = [pl.concat(frames) for frames in zip(*parts, strict=True)]
        last = max(both, key=len)["row"].gather_every(BLOCK, BLOCK)
        ends = [frame["row"].search_sorted(last, "right").to_list() for frame in both]
        cuts = [pairwise([0, *end, frame.height]) for end, frame in zip(ends, both, strict=True)]
        for rows, numbers in zip(*cuts, strict=True):
            records = self._epochs(both[0][slice(*rows)])
            self.groups.add(records)
            yield records, both[1][slice(*numbers)]

    def _epochs(self, records: pl.DataFrame) -> pl.DataFrame:
        """Headers open an epoch for the counters after them and are dropped."""
        session, epoch = self.opened
        known = pl.when(pl.col("session") == session).then(pl.lit(epoch, pl.Float64))
        said = pl.when("header").then("epoch").forward_fill().over("session")
        records = records.with_columns(opened=pl.coalesce(said, known))
        if records.height:
            self.opened = (records["session"][-1], records["opened"][-1])
        i = pl.when(~(pl.col("held_out") & pl.col("step").is_null())).then(pl.coalesce("step", "batch"))
        return records.filter(~pl.col("header")).select(
            "row", "session", "series", "held_out", "keras", "total",
            i=i,
            stepped=pl.col("step").is_not_null(),
            epoch=pl.coalesce("epoch", pl.when(pl.col("step").is_null()).then("opened")),
            own=pl.coalesce("epoch", pl.when(pl.col("step").is_null()).then("opened")).is_not_null(),
            # a bar or a pass over held-out data with its counter overwrites the one before
            refreshed=pl.col("bar") | (pl.col("held_out") & pl.col("batch").is_not_null()),
        )  # fmt: skip

    def _placed(self, records: pl.DataFrame, points: pl.DataFrame, choices: Choices) -> Iterator[pl.DataFrame]:
        """The points of a block that nothing can overwrite any more."""
        if not points.height:
            self._steps(records, choices)
            return
        found = points.join(self._steps(records, choices), on="row", how="inner", maintain_order="left")
        found = self._same_pass(self._indexed(found))
        found = self._last_states(found.select(_WAITING.names()))
        if found.height:
            yield self._shown(found)

    def _steps(self, records: pl.DataFrame, choices: Choices) -> pl.DataFrame:
        """row, session, step (Int64 or NULL), epoch, keras, total and refreshed of each record."""
        sessions, series = choices.frames()
        group, carry = list(_GROUP), self.carry
        placed = records.join(series, on=group, how="left", nulls_equal=True, maintain_order="left")
        placed = placed.join(sessions, on="session", how="left", maintain_order="left")
        placed = placed.join(carry.series, on=group, how="left", nulls_equal=True, maintain_order="left")
        i, epoch, index = pl.col("i"), pl.col("epoch"), pl.int_range(pl.len()).over(group)
        before = pl.when(index == 0).then("i0").otherwise(i.shift().over(group))
        # without an epoch a counter that goes back is the next pass over the data
        back = ((i < before) & ~pl.col("stepped")).fill_null(value=False)
        placed = placed.with_columns(
            passes=back.cum_sum().over(group).cast(pl.Int64) + pl.col("passes0").fill_null(0),
            index=index + pl.col("index0").fill_null(0),
        )
        length = pl.coalesce("total", "length")
        # counters that start anew with each epoch (or each bar) become steps that go on
        placed = placed.with_columns(
            step=pl.when(pl.col("keras") & epoch.is_not_null())
            .then(epoch)
            .when("anew")
            .then((epoch - pl.col("first")).floor() * length + i)
            .when(epoch.is_null() & ~pl.col("stepped"))
            .then(pl.col("passes") * length + i)
            .otherwise(i)
        )
        ends = placed.group_by(group, maintain_order=True).agg(
            i0=i.last(), passes0=pl.col("passes").last(), index0=pl.col("index").last() + 1
        )
        steps = self._filled(placed)
        self._pass_on(ends.cast(_SERIES))
        return steps

    def _filled(self, placed: pl.DataFrame) -> pl.DataFrame:
        """Records without a step of their own take the last one seen; where a session has none, the epoch or an
        index of the commonest series that has neither.
        """
        lone = ~pl.col("any_step")
        placed = placed.with_columns(
            step=pl.when(pl.col("step").is_not_null())
            .then("step")
            .when(lone & pl.col("all_epochal"))
            .then("epoch")
            .when(lone & pl.col("clock"))
            .then(pl.col("index").cast(pl.Float64))
        )
        known = pl.when(pl.col("session") == self.carry.session).then(pl.lit(self.carry.step, pl.Float64))
        last = pl.coalesce(pl.col("step").forward_fill().over("session"), known)
        sharing = pl.col("own") | pl.col("held_out") | pl.col("any_step")
        placed = placed.with_columns(last=last).with_columns(step=pl.when(sharing).then("last").otherwise("step"))
        if placed.height:
            self.carry.step, self.carry.session = placed["last"][-1], placed["session"][-1]
        return placed.select(
            "row", "session", "epoch", "keras", "total", "refreshed", step=pl.col("step").cast(pl.Int64, strict=False)
        )

    def _pass_on(self, ends: pl.DataFrame) -> None:
        last = pl.col("session") == self.carry.session
        older = self.carry.series.filter(last).join(ends, on=list(_GROUP), how="anti", nulls_equal=True)
        self.carry.series = pl.concat([older, ends.filter(last)])

    def _indexed(self, points: pl.DataFrame) -> pl.DataFrame:
        """A running index a session and metric where there is no step at all."""
        counts, key = self.carry.counts, ["session", "metric"]
        if points["step"].has_nulls():
            known = pl.DataFrame([(*k, n) for k, n in counts.items()], _COUNTS, orient="row")
            points = points.join(known, on=key, how="left", maintain_order="left")
            index = pl.int_range(pl.len(), dtype=pl.Int64).over(key) + pl.col("count").fill_null(0)
            points = points.with_columns(step=pl.coalesce("step", index)).drop("count")
        for session, metric, n in points.group_by(key).len().iter_rows():
            counts[session, metric] = counts.get((session, metric), 0) + n
        self.carry.counts = {k: n for k, n in counts.items() if k[0] == self.carry.session}
        return points

    def _same_pass(self, points: pl.DataFrame) -> pl.DataFrame:
        """Of a Keras epoch what has the total of its first pass: those over held-out data have another."""
        session, step, total = self.carry.pass_ or (-1, 0, None)
        run = pl.struct("session", "step").rle_id()
        goes_on = (run == 0) & (pl.col("session").first() == session) & (pl.col("step").first() == pl.lit(step))
        first = pl.when(goes_on).then(pl.lit(total, pl.Float64)).otherwise(pl.col("total").first().over(run))
        points = points.with_columns(first=first)
        self.carry.pass_ = points.select("session", "step", "first").row(-1)
        return points.filter(~pl.col("keras") | (pl.col("total") == pl.col("first")) | pl.col("total").is_null())

    def _last_states(self, points: pl.DataFrame) -> pl.DataFrame:
        """Of the refreshes of a bar within one step the last; those that may yet be overwritten wait."""
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
        shown = points.filter(~waits)
        # in the order in which they were settled: however the file is cut into blocks, it is the same
        settled = pl.when("refreshed").then("follows").otherwise("row")
        return shown.sort(settled, "row", maintain_order=True).select(_WAITING.names())

    def _shown(self, points: pl.DataFrame) -> pl.DataFrame:
        names = pl.Series(list(self.names), dtype=pl.String)
        return points.select(
            "session", names.gather(points["metric"]).alias("metric"), "step", "epoch", "time",
            "value", pl.lit(None, pl.String).alias("source"), "line",
        ).cast(SCHEMAS["points"])  # fmt: skip


def _tuple(values: Any) -> Any:
    return None if values is None else tuple(values)


def _carry_state(carry: Carry) -> Mapping[str, Any]:
    return {
        "series": [list(row) for row in carry.series.iter_rows()], "session": carry.session, "step": carry.step,
        "counts": [[list(k), n] for k, n in carry.counts.items()], "pass": carry.pass_,
        "waiting": [list(row) for row in carry.waiting.cast({"time": pl.Int64}).iter_rows()],
    }  # fmt: skip
