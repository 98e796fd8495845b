"""How a session of a log counts: sums over its records, and the choices that follow from them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np

from loganalyst.sources.files.readmark import StartAgainError
from loganalyst.sources.text.lines.numberrecords import NONE, Counted, Grouping
from loganalyst.sources.text.metrics.barsteps import Pace, longest
from loganalyst.thresholds import feature_limit

Key = tuple[int, int]  # session and code of the series (a record's first metric, NONE without any)


class Group(NamedTuple):
    """The records of one series of a session: their number, and what matters of their counters and epochs.

    again, on: how often the counter started again or went on as the epoch rose; rising: each record has a whole epoch
    above the one before; i, epoch: of the last record; counted: there is a counter; placed: with an epoch; keras: there
    is an epoch of Keras; bare: no record has a counter or an epoch.
    """

    n: int
    again: int
    on: int
    rising: bool
    counted: bool
    placed: bool
    keras: bool
    i: float | None
    epoch: float | None
    bare: bool = False

    @property
    def restarts(self) -> bool:
        """Whether the counter starts again with each epoch. One or two lines, which may be damaged, do not decide."""
        return self.again > feature_limit("counter_restarts_seldom") * self.on


@dataclass(frozen=True)
class Span:
    """The largest and smallest counter of a session, and its first epoch that has one."""

    most: float | None = None
    least: float | None = None
    first: float | None = None


class Choices(msgspec.Struct, frozen=True):
    """How the sessions and series count.

    `sessions`: length of a pass, first epoch, whether any record has a step, whether the series count by epochs.
    `series`: whether its counter starts again with each epoch, whether its records are indexed where nothing else
    counts. `paces`: steps per epoch, inferred from progress bars in sessions without steps.
    """

    sessions: Mapping[int, tuple[float | None, float | None, bool, bool]]
    series: Mapping[Key, tuple[bool, bool]]
    paces: Mapping[int, float] = msgspec.field(default_factory=dict)

    def state(self) -> Any:
        """As plain JSON."""
        return [[[k, list(v)] for k, v in self.sessions.items()], [[list(k), list(v)] for k, v in self.series.items()],
                list(self.paces.items())]  # fmt: skip

    @classmethod
    def from_state(cls, state: Any) -> "Choices":
        """The choices that `state` described."""
        return cls({k: tuple(v) for k, v in state[0]}, {tuple(k): tuple(v) for k, v in state[1]}, dict(state[2]))


class Groups(msgspec.Struct):
    """The sums for each series and session so far."""

    series: dict[Key, Group] = msgspec.field(default_factory=dict)
    spans: dict[int, Span] = msgspec.field(default_factory=dict)
    drawn: dict[int, Pace] = msgspec.field(default_factory=dict)

    def copy(self) -> "Groups":
        """A copy that grows independently."""
        return Groups(dict(self.series), dict(self.spans), dict(self.drawn))

    def state(self) -> Any:
        """The last session as plain JSON."""
        last = max(self.spans, default=-1)
        series = [[list(k), g._asdict()] for k, g in self.series.items() if k[0] == last]
        drawn = [[k, list(pace)] for k, pace in self.drawn.items() if k == last]
        return [series, [[k, asdict(s)] for k, s in self.spans.items() if k == last], drawn]

    @classmethod
    def from_state(cls, state: Any) -> "Groups":
        """The groups that `state` described."""
        series, spans = {tuple(k): Group(**g) for k, g in state[0]}, {k: Span(**s) for k, s in state[1]}
        return cls(series, spans, {k: Pace(*pace) for k, pace in state[2]})

    def draw(self, paces: Mapping[int, Pace]) -> None:
        """Record the bars next to records; recording one twice changes nothing."""
        self.drawn = longest(self.drawn, paces)

    def add(self, records: Counted) -> None:
        """Sum up records, in file order."""
        if not len(records):
            return
        groups = Grouping.by(records.session, records.series)
        for key, group, first in zip(groups.keys, *_summed(records, groups), strict=True):
            before = self.series.get(key)
            self.series[key] = _joined(before, group, *first) if before else group
        sessions = Grouping.by(records.session, np.full(len(records), NONE))
        i, epoch = (column[sessions.order] for column in (records.i, records.epoch))
        first_epoch = np.where(np.isnan(i), np.nan, epoch)
        spans = (np.fmax.reduceat(i, sessions.starts), np.fmin.reduceat(i, sessions.starts),
                 np.fmin.reduceat(first_epoch, sessions.starts))  # fmt: skip
        for (session, _), *new in zip(sessions.keys, *(map(number, s.tolist()) for s in spans), strict=True):
            old = self.spans.get(session, Span())
            self.spans[session] = Span(
                _chosen(max, old.most, new[0]), _chosen(min, old.least, new[1]), _chosen(min, old.first, new[2])
            )

    def choices(self) -> Choices:
        """The choices for all sessions."""
        sessions, series = {}, {}
        by_session: dict[int, list[tuple[Key, Group]]] = {session: [] for session in self.spans}
        for key, group in self.series.items():
            by_session[key[0]].append((key, group))
        for session, span in self.spans.items():
            groups = [group for _, group in by_session[session]]
            length = None if span.most is None else span.most + (span.least == 0)
            stepped = any(g.keras or (g.placed if g.restarts else g.counted) for g in groups)
            largest = max((g.n for g in groups if not g.rising), default=0)
            sessions[session] = (length, span.first, stepped, _epochal(groups))
            series.update({key: (g.restarts, not g.rising and g.n == largest) for key, g in by_session[session]})
        unplaced = [session for session, (*_, stepped, epochal) in sessions.items() if not stepped and not epochal]
        return Choices(sessions, series, {s: self.drawn[s].steps() for s in unplaced if s in self.drawn})

    def check(self, before: Choices, now: Choices, *, passed: bool) -> None:
        """Raises StartAgainError if the choices `now` move records seen so far. `passed`: a counter without an epoch
        went back.
        """
        for session in self.spans:
            (length, first, stepped, epochal), later = before.sessions[session], now.sessions[session]
            restarts = passed
            for key in self.series:
                restarts = restarts or before.series[key][0]
                counted = not stepped and not epochal and before.series[key] != now.series[key]
                if before.series[key][0] != now.series[key][0] or counted:
                    raise StartAgainError(f"series {key} counts differently")
            if before.paces.get(session) != now.paces.get(session):
                raise StartAgainError(f"epochs of session {session} are longer than they seemed")
            if (stepped, not stepped and epochal) != (later[2], not later[2] and later[3]):
                raise StartAgainError(f"session {session} counts differently")
            if restarts and (length, first) != later[:2]:
                raise StartAgainError(f"the passes of session {session} are longer than they seemed")


def _epochal(groups: list[Group]) -> bool:
    """Whether all series count by epochs. Records without an epoch that are as frequent or less (a line behind each
    epoch, a test at the end) belong to the epoch before them.
    """
    largest = max((g.n for g in groups if g.rising), default=0)
    return all(g.rising or (g.bare and g.n <= largest) for g in groups)


def _summed(records: Counted, groups: Grouping) -> tuple[list[Group], list[tuple[float | None, float | None]]]:
    """Each group of records, and the counter and epoch of its first record."""
    first, last = groups.starts, groups.starts + groups.sizes - 1
    i, epoch, keras = (column[groups.order] for column in (records.i, records.epoch, records.keras))
    counted, placed = ~np.isnan(i), ~np.isnan(epoch)
    di, de = (np.diff(column, prepend=np.nan) for column in (i, epoch))
    di[first] = de[first] = np.nan
    any_, all_, sum_ = np.logical_or.reduceat, np.logical_and.reduceat, np.add.reduceat
    again, on = (sum_((moved & (de > 0)).astype(np.int64), first) for moved in (di <= 0, di > 0))
    columns = (
        groups.sizes, again, on, all_((epoch % 1 == 0) & ~(de <= 0), first),
        any_(counted, first), any_(counted & placed, first), any_(keras & placed, first),
    )  # fmt: skip
    ends = [list(map(number, column[at].tolist())) for at in (last, first) for column in (i, epoch)]
    bare = all_(~counted & ~placed, first).tolist()
    found = [Group(*one) for one in zip(*(column.tolist() for column in columns), *ends[:2], bare, strict=True)]
    return found, list(zip(*ends[2:], strict=True))


def number(value: float) -> float | None:
    """None for NaN."""
    return None if math.isnan(value) else value


def _joined(one: Group, two: Group, i: float | None, epoch: float | None) -> Group:
    """Both groups as one; `two` begins with counter `i` and epoch `epoch`."""
    back = None not in (one.i, i) and i <= one.i  # type: ignore[operator]
    further = None not in (one.i, i) and i > one.i  # type: ignore[operator]
    later = None not in (one.epoch, epoch) and epoch > one.epoch  # type: ignore[operator]
    return two._replace(
        n=one.n + two.n, again=one.again + two.again + (back and later), on=one.on + two.on + (further and later),
        rising=one.rising and two.rising and later, counted=one.counted or two.counted,
        placed=one.placed or two.placed, keras=one.keras or two.keras,
        bare=one.bare and two.bare,
    )  # fmt: skip


def _chosen(take: Any, one: float | None, two: float | None) -> float | None:
    """The chosen one of two values, of which either may be missing."""
    return two if one is None else one if two is None else take(one, two)
