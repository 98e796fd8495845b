"""What happened, in order: findings of curves and lines of logs on one clock."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from loganalyst.model import Onset, Time, TimelineEvent

MAX_EVENTS = 12
MAX_TEXT = 200  # characters of a log line

# kind of finding -> its words, and its weight, which selects the events but does not order them
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
}  # for metrics where lower is worse
RATE_KINDS = ("level_up", "restart", "nonfinite")  # schedules make the other changes of a learning rate
# part of a failure chain -> weight of its lines; other parts are no events
PART_WEIGHTS: Mapping[str, float] = {"root": 3.0, "stop": 2.5, "symptom": 1.5, "cascade": 1.0, "end": 1.0}

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
    """The events with the highest weight, at most twelve, in order of session and step.

    `findings`, `lines` and `points` are tables of those names. Equal events (same metric and kind, or same pattern)
    are shown once, with their number. A line has no step: its time places it among the `points`. Without points or a
    time it comes after the findings of its session, in the order of the file. `onsets` (in order) refine when metrics
    left their usual course. For the metrics in `down`, lower is worse.
    """
    tables = [_finding_events(findings, down), *([_line_events(lines)] if lines.height else [])]
    events = pl.concat(tables).sort("weight", descending=True, maintain_order=True)
    placed = _placed(_exact(events.head(MAX_EVENTS), onsets), points)
    placed = placed.sort("session", "at", "place", "time", "line", nulls_last=True, maintain_order=True)
    chain = {(o["session"], o["metric"], o["kind"]): o for o in _chain(onsets)}
    return tuple(_event(e, chain.get((e["session"], e["metric"], e["kind"]), {})) for e in placed.to_dicts())


def _event(row: Mapping[str, Any], order: Mapping[str, Any]) -> TimelineEvent:
    event: dict[str, Any] = {name: row[name] for name in ("step", "time", "metric", "kind", "text")}
    return TimelineEvent(**event | {name: order.get(name) for name in _ORDER})


def _chain(onsets: Sequence[Onset]) -> Iterator[dict[str, Any]]:
    """Each onset with its predecessor in the session, the steps between them, and the probability of this order."""
    for session in dict.fromkeys(o.session for o in onsets):
        ordered = [o for o in onsets if o.session == session]
        for last, o in zip([None, *ordered], ordered, strict=False):
            row = {"session": session, "metric": o.metric, "kind": o.kind, "low": o.low, "high": o.high}
            if last is not None:
                row |= {"after": last.metric, "lag": o.step - last.step, "confidence": last.before(o)}
            yield row


def _exact(events: pl.DataFrame, onsets: Sequence[Onset]) -> pl.DataFrame:
    """The events with the exact steps of their onsets, and their `place` in the order of the onsets."""
    keys = ["session", "metric", "kind", "step"]
    rows = [(o.session, o.metric, o.kind, o.found, o.step, i) for i, o in enumerate(onsets)]
    exact = pl.DataFrame(rows, schema=events.select(keys, exact="step", place="step").schema, orient="row")
    joined = events.join(exact, on=keys, how="left", maintain_order="left")
    return joined.with_columns(step=pl.coalesce("exact", "step")).select(*_EVENTS, "place")


def _finding_events(findings: pl.DataFrame, down: Collection[str]) -> pl.DataFrame:
    """One event for each metric and kind of a session: the first finding, and how many there were."""
    words = {kind: words for kind, (words, _) in FINDINGS.items()}
    falls = pl.col("metric").is_in(list(down))
    findings = findings.filter(pl.col("role").ne_missing("learning_rate") | pl.col("kind").is_in(RATE_KINDS))
    weights = {kind: weight for kind, (_, weight) in FINDINGS.items()}
    first = findings.sort("step", nulls_last=True, maintain_order=True).group_by(
        "session", "metric", "kind", maintain_order=True
    )
    phrase = pl.when(falls).then(pl.col("kind").replace({**words, **FALLS})).otherwise(pl.col("kind").replace(words))
    text = pl.format("{} {}", "metric", phrase)
    return (
        first.agg(pl.col("step", "line").first(), pl.col("significance").max(), often=pl.len())
        .with_columns(
            time=pl.lit(None, Time),
            text=pl.when(pl.col("often") > 1).then(pl.format("{} ({} times)", text, "often")).otherwise(text),
            weight=pl.col("kind").replace_strict(weights, default=0.5) * pl.col("significance").fill_null(0.5),
        )
        .select(_EVENTS)
    )


def _line_events(lines: pl.DataFrame) -> pl.DataFrame:
    """One event for each pattern of a session: its first line."""
    events = lines.filter(pl.col("part").is_in(list(PART_WEIGHTS)))
    return (
        events.unique(["session", "pattern"], keep="first", maintain_order=True)
        .with_columns(
            step=pl.lit(None, pl.Int64),
            metric=pl.lit(None, pl.String),
            kind=pl.col("part"),
            text=pl.col("text").str.strip_chars().str.head(MAX_TEXT),
            weight=pl.col("part").replace_strict(PART_WEIGHTS, default=0.0, return_dtype=pl.Float64),
        )
        .select(_EVENTS)
    )


def _placed(events: pl.DataFrame, points: pl.DataFrame | None) -> pl.DataFrame:
    """The events with their position `at`: their step, or just after the last point before their time."""
    events = events.with_columns(at=pl.col("step").cast(pl.Float64))
    timed = events.filter(pl.col("step").is_null() & pl.col("time").is_not_null())
    if points is None or not timed.height:
        return events
    untimed = events.filter(pl.col("step").is_not_null() | pl.col("time").is_null())
    timed = timed.drop("at").sort("time")
    joined = timed.join_asof(_clock(timed, points), on="time", by="session", check_sortedness=False)
    return pl.concat([untimed, joined])


def _clock(timed: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """session, time and `at` of the last point before each event. Sorting only these few of millions is fast."""
    known = pl.col("step").is_not_null()
    last = [
        pl.col("time").filter(known, pl.col("session") == session, pl.col("time") <= time).max().alias(str(i))
        for i, (session, time) in enumerate(timed.select("session", "time").unique().iter_rows())
    ]
    times = points.select(last).transpose().to_series()
    near = points.filter(known, pl.col("time").is_in(times.implode()))
    return near.select("session", "time", at=pl.col("step") + 0.5).sort("time")
