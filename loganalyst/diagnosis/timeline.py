"""What happened, in order: who moved first. Findings of curves and lines of logs on one clock."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from loganalyst.model import Onset, Time, TimelineEvent

MAX_EVENTS = 12
MAX_TEXT = 200  # characters of a log line that are told

# kind of finding -> what it says of its metric, and how much it tells (to choose what is told, not in which order)
FINDINGS: Mapping[str, tuple[str, float]] = {
    "nonfinite": ("became NaN or infinite", 3.0),
    "divergence": ("left its trend", 3.0),
    "level_up": ("jumped up to a new level", 2.0),
    "spike": ("spiked", 2.0),
    "periodic": ("began to spike at equal distances", 2.0),
    "restart": ("started again at an earlier step", 2.0),
    "plateau": ("stopped improving", 1.5),
    "level_down": ("fell to a new level", 0.5),
    "slope": ("changed its slope", 0.5),
    "variance": ("changed its noise", 0.5),
    "lr_drop": ("bent at a drop of the learning rate", 0.5),
}
FALLS: Mapping[str, str] = {
    "level_up": FINDINGS["level_down"][0],
    "level_down": FINDINGS["level_up"][0],
}  # down is worse
OF_RATES = ("level_up", "restart", "nonfinite")  # the rest is what schedules do
# part of a failure chain -> how much its lines tell; other parts are no events
LINES: Mapping[str, float] = {"root": 3.0, "stop": 2.5, "symptom": 1.5, "cascade": 1.0, "end": 1.0}

_EVENTS = ("session", "step", "time", "metric", "kind", "text", "weight", "line")
_ORDER = ("low", "high", "after", "lag", "confidence")


def timeline(
    findings: pl.DataFrame,
    lines: pl.DataFrame,
    points: pl.DataFrame | None = None,
    *,
    onsets: Sequence[Onset] = (),
    down: Collection[str] = (),
) -> tuple[TimelineEvent, ...]:
    """The most telling events, at most twelve, in order of session and then step.

    `findings`, `lines` and `points` are tables of those names. Of equal events (same metric and kind, or same pattern)
    the first is told, and how often it happened. A line has no step: by its time it is placed among the `points`;
    without those, or without a time, it comes after the findings of its session, in the order of the file. `onsets`
    (in order) say more exactly when metrics left their usual course, and in which order; of the metrics in `down` less
    is worse.
    """
    told = [_of_findings(findings, down), *([_of_lines(lines)] if lines.height else [])]
    events = pl.concat(told).sort("weight", descending=True, maintain_order=True)
    placed = _placed(_exact(events.head(MAX_EVENTS), onsets), points)
    placed = placed.sort("session", "at", "place", "time", "line", nulls_last=True, maintain_order=True)
    chain = {(o["session"], o["metric"], o["kind"]): o for o in _chain(onsets)}
    return tuple(_event(e, chain.get((e["session"], e["metric"], e["kind"]), {})) for e in placed.to_dicts())


def _event(row: Mapping[str, Any], order: Mapping[str, Any]) -> TimelineEvent:
    told: dict[str, Any] = {name: row[name] for name in ("step", "time", "metric", "kind", "text")}
    return TimelineEvent(**told | {name: order.get(name) for name in _ORDER})


def _chain(onsets: Sequence[Onset]) -> Iterator[dict[str, Any]]:
    """Each onset with the one before it in its session, the steps between, and the probability of this order."""
    for session in dict.fromkeys(o.session for o in onsets):
        own = [o for o in onsets if o.session == session]
        for last, o in zip([None, *own], own, strict=False):
            row = {"session": session, "metric": o.metric, "kind": o.kind, "low": o.low, "high": o.high}
            if last is not None:
                row |= {"after": last.metric, "lag": o.step - last.step, "confidence": last.before(o)}
            yield row


def _exact(events: pl.DataFrame, onsets: Sequence[Onset]) -> pl.DataFrame:
    """The events with the steps of their onsets in place of those of the findings, and their `place` in that order."""
    keys = ["session", "metric", "kind", "step"]
    rows = [(o.session, o.metric, o.kind, o.found, o.step, i) for i, o in enumerate(onsets)]
    exact = pl.DataFrame(rows, schema=events.select(keys, exact="step", place="step").schema, orient="row")
    told = events.join(exact, on=keys, how="left", maintain_order="left")
    return told.with_columns(step=pl.coalesce("exact", "step")).select(*_EVENTS, "place")


def _of_findings(findings: pl.DataFrame, down: Collection[str]) -> pl.DataFrame:
    """One event for each metric and kind of a session: the first, and how often."""
    words = {kind: words for kind, (words, _) in FINDINGS.items()}
    falls = pl.col("metric").is_in(list(down))
    findings = findings.filter(pl.col("role").ne_missing("learning_rate") | pl.col("kind").is_in(OF_RATES))
    tells = {kind: weight for kind, (_, weight) in FINDINGS.items()}
    first = findings.sort("step", nulls_last=True, maintain_order=True).group_by(
        "session", "metric", "kind", maintain_order=True
    )
    said = pl.when(falls).then(pl.col("kind").replace({**words, **FALLS})).otherwise(pl.col("kind").replace(words))
    text = pl.format("{} {}", "metric", said)
    return (
        first.agg(pl.col("step", "line").first(), pl.col("significance").max(), often=pl.len())
        .with_columns(
            time=pl.lit(None, Time),
            text=pl.when(pl.col("often") > 1).then(pl.format("{} ({} times)", text, "often")).otherwise(text),
            weight=pl.col("kind").replace_strict(tells, default=0.5) * pl.col("significance").fill_null(0.5),
        )
        .select(_EVENTS)
    )


def _of_lines(lines: pl.DataFrame) -> pl.DataFrame:
    """One event for each pattern of a session: its first line."""
    told = lines.filter(pl.col("part").is_in(list(LINES)))
    return (
        told.unique(["session", "pattern"], keep="first", maintain_order=True)
        .with_columns(
            step=pl.lit(None, pl.Int64),
            metric=pl.lit(None, pl.String),
            kind=pl.col("part"),
            text=pl.col("text").str.strip_chars().str.head(MAX_TEXT),
            weight=pl.col("part").replace_strict(LINES, default=0.0, return_dtype=pl.Float64),
        )
        .select(_EVENTS)
    )


def _placed(events: pl.DataFrame, points: pl.DataFrame | None) -> pl.DataFrame:
    """The events with `at`, where they belong: their step, or just after that of the last point before their time."""
    events = events.with_columns(at=pl.col("step").cast(pl.Float64))
    timed = events.filter(pl.col("step").is_null() & pl.col("time").is_not_null())
    if points is None or not timed.height:
        return events
    untimed = events.filter(pl.col("step").is_not_null() | pl.col("time").is_null())
    timed = timed.drop("at").sort("time")
    joined = timed.join_asof(_clock(timed, points), on="time", by="session", check_sortedness=False)
    return pl.concat([untimed, joined])


def _clock(timed: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """session, time, and `at` of the last points before the events: of millions these few are sorted."""
    known = pl.col("step").is_not_null()
    last = [
        pl.col("time").filter(known, pl.col("session") == session, pl.col("time") <= time).max().alias(str(i))
        for i, (session, time) in enumerate(timed.select("session", "time").unique().iter_rows())
    ]
    times = points.select(last).transpose().to_series()
    near = points.filter(known, pl.col("time").is_in(times.implode()))
    return near.select("session", "time", at=pl.col("step") + 0.5).sort("time")
