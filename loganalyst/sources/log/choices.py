"""How a session of a log counts: what is summed up of its records, and the choices that follow from it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import polars as pl

from loganalyst.sources.mark import StartAgainError

Key = tuple[int, int | None]  # session and code of the series (a record's first metric)


@dataclass(frozen=True)
class Group:
    """The records of one series of a session: their number, and of counters and epochs what decides.

    anew: the counter started again as the epoch rose; rising: each has a whole epoch above the one before; i, epoch:
    those of the last record; counted: there is a counter (placed: beside an epoch); keras: there is an epoch of Keras.
    """

    n: int
    anew: bool
    rising: bool
    counted: bool
    placed: bool
    keras: bool
    i: float | None
    epoch: float | None


@dataclass(frozen=True)
class Span:
    """The largest and smallest counter of a session, and its first epoch that has one."""

    most: float | None = None
    least: float | None = None
    first: float | None = None


@dataclass(frozen=True)
class Choices:
    """By session: length of a pass, first epoch, whether any record has a step, whether all series count by epochs;
    by series: whether its counter starts anew with each epoch, whether its records are counted where nothing else is.
    """

    sessions: Mapping[int, tuple[float | None, float | None, bool, bool]]
    series: Mapping[Key, tuple[bool, bool]]

    def state(self) -> Any:
        """As plain JSON."""
        return [[[k, list(v)] for k, v in self.sessions.items()], [[list(k), list(v)] for k, v in self.series.items()]]

    @classmethod
    def from_state(cls, state: Any) -> "Choices":
        """What `state` told."""
        return cls({k: tuple(v) for k, v in state[0]}, {tuple(k): tuple(v) for k, v in state[1]})

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The choices of sessions and of series."""
        sessions = pl.DataFrame(
            [(k, *v) for k, v in self.sessions.items()], orient="row",
            schema={"session": pl.Int32, "length": pl.Float64, "first": pl.Float64, "any_step": pl.Boolean,
                    "all_epochal": pl.Boolean},
        )  # fmt: skip
        series = pl.DataFrame(
            [(*k, *v) for k, v in self.series.items()],
            orient="row",
            schema={"session": pl.Int32, "series": pl.UInt32, "anew": pl.Boolean, "clock": pl.Boolean},
        )
        return sessions, series


@dataclass
class Groups:
    """What was seen of each series and session so far."""

    series: dict[Key, Group] = field(default_factory=dict)
    spans: dict[int, Span] = field(default_factory=dict)

    def copy(self) -> "Groups":
        """One that grows apart."""
        return Groups(dict(self.series), dict(self.spans))

    def state(self) -> Any:
        """The last session as plain JSON."""
        last = max(self.spans, default=-1)
        series = [[list(k), asdict(g)] for k, g in self.series.items() if k[0] == last]
        return [series, [[k, asdict(s)] for k, s in self.spans.items() if k == last]]

    @classmethod
    def from_state(cls, state: Any) -> "Groups":
        """What `state` told."""
        return cls({tuple(k): Group(**g) for k, g in state[0]}, {k: Span(**s) for k, s in state[1]})

    def add(self, records: pl.DataFrame) -> None:
        """Sum up records: session, series, i, epoch (Float64 or NULL), keras; in file order."""
        i, epoch = pl.col("i"), pl.col("epoch")
        key = ["session", "series"]
        found = records.group_by(key, maintain_order=True).agg(
            n=pl.len(),
            anew=((i.diff() <= 0) & (epoch.diff() > 0)).any(),
            rising=(epoch.is_not_null() & (epoch % 1 == 0)).all() & (epoch.diff().drop_nulls() > 0).all(),
            counted=i.is_not_null().any(),
            placed=(i.is_not_null() & epoch.is_not_null()).any(),
            keras=(pl.col("keras") & epoch.is_not_null()).any(),
            i=i.last(),
            epoch=epoch.last(),
            i_first=i.first(),
            epoch_first=epoch.first(),
        )
        for row in found.to_dicts():
            i_first, epoch_first = row.pop("i_first"), row.pop("epoch_first")
            at = (row.pop("session"), row.pop("series"))
            before = self.series.get(at)
            self.series[at] = _joined(before, Group(**row), i_first, epoch_first) if before else Group(**row)
        spans = records.group_by("session", maintain_order=True).agg(
            most=i.max(), least=i.min(), first=epoch.filter(i.is_not_null()).min()
        )
        for row in spans.to_dicts():
            session = row.pop("session")
            old = self.spans.get(session, Span())
            self.spans[session] = Span(
                _best(max, old.most, row["most"]), _best(min, old.least, row["least"]),
                _best(min, old.first, row["first"]),
            )  # fmt: skip

    def choices(self) -> Choices:
        """What follows for all sessions."""
        sessions, series = {}, {}
        of: dict[int, list[tuple[Key, Group]]] = {session: [] for session in self.spans}
        for key, group in self.series.items():
            of[key[0]].append((key, group))
        for session, span in self.spans.items():
            groups = [group for _, group in of[session]]
            length = None if span.most is None else span.most + (span.least == 0)
            stepped = any(g.keras or (g.placed if g.anew else g.counted) for g in groups)
            most = max((g.n for g in groups if not g.rising), default=0)
            sessions[session] = (length, span.first, stepped, all(g.rising for g in groups))
            series.update({key: (g.anew, not g.rising and g.n == most) for key, g in of[session]})
        return Choices(sessions, series)

    def check(self, before: Choices, now: Choices, *, passed: bool) -> None:
        """Raises StartAgainError where records seen so far are placed otherwise by the choices `now`; `passed`: a
        counter without an epoch went back.
        """
        for session in self.spans:
            (length, first, stepped, epochal), late = before.sessions[session], now.sessions[session]
            anew = passed
            for key in self.series:
                anew = anew or before.series[key][0]
                counted = not stepped and not epochal and before.series[key] != now.series[key]
                if before.series[key][0] != now.series[key][0] or counted:
                    raise StartAgainError(f"series {key} counts otherwise")
            if (stepped, not stepped and epochal) != (late[2], not late[2] and late[3]):
                raise StartAgainError(f"session {session} counts otherwise")
            if anew and (length, first) != late[:2]:
                raise StartAgainError(f"the passes of session {session} are longer than they seemed")


def _joined(one: Group, two: Group, i: float | None, epoch: float | None) -> Group:
    """Both, `two` beginning with counter `i` and epoch `epoch`."""
    back = None not in (one.i, i) and i <= one.i  # type: ignore[operator]
    later = None not in (one.epoch, epoch) and epoch > one.epoch  # type: ignore[operator]
    return replace(
        two, n=one.n + two.n, anew=one.anew or two.anew or (back and later),
        rising=one.rising and two.rising and later, counted=one.counted or two.counted,
        placed=one.placed or two.placed, keras=one.keras or two.keras,
    )  # fmt: skip


def _best(take: Any, one: float | None, two: float | None) -> float | None:
    return two if one is None else one if two is None else take(one, two)
