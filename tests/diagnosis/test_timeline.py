"""Events in the order in which they happened."""

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.diagnosis.timeline import FINDINGS, MAX_EVENTS, timeline
from loganalyst.model import Onset, table

START = datetime(2026, 1, 1, tzinfo=UTC)
NO_LINES, NO_FINDINGS = table("lines"), table("findings")


def findings(*rows: tuple[str, str, int | None]) -> Any:
    metrics, kinds, steps = zip(*rows, strict=True)
    return table(
        "findings",
        {
            "session": [0] * len(rows),
            "metric": metrics,
            "kind": kinds,
            "step": steps,
            "significance": [1.0] * len(rows),
        },
    )


def lines(*rows: tuple[str, str, str, int | None]) -> Any:
    patterns, parts, texts, seconds = zip(*rows, strict=True)
    return table(
        "lines",
        {
            "session": [0] * len(rows),
            "pattern": patterns,
            "part": parts,
            "text": texts,
            "line": range(1, len(rows) + 1),
            "time": [None if s is None else START + timedelta(seconds=s) for s in seconds],
        },
    )


def test_findings_are_ordered_by_step() -> None:
    """Over all curves."""
    found = timeline(
        findings(("loss", "nonfinite", 650), ("grad_norm", "divergence", 549), ("loss", "divergence", 590)), NO_LINES
    )

    assert [(e.step, e.metric, e.text) for e in found] == [
        (549, "grad_norm", "grad_norm left its trend"),
        (590, "loss", "loss left its trend"),
        (650, "loss", "loss became NaN or infinite"),
    ]


def test_repeated_events_are_shown_once() -> None:
    """The first of a kind, with their number; the same kind on another metric is another event."""
    found = timeline(findings(("loss", "spike", 30), ("loss", "spike", 10), ("val", "spike", 20)), NO_LINES)

    assert [(e.step, e.text) for e in found] == [(10, "loss spiked (2 times)"), (20, "val spiked")]


def test_lines_follow_the_findings_without_a_clock() -> None:
    """Lines without a place among the steps come last, in the order of the file; advice is no event."""
    log = lines(
        ("a", "advice", "set X=1", 1),
        ("r", "root", "  boom ", 5),
        ("r", "root", "boom", 6),
        ("c", "cascade", "bye", None),
    )
    found = timeline(findings(("loss", "divergence", 100)), log)

    assert [(e.step, e.kind, e.text) for e in found] == [
        (100, "divergence", "loss left its trend"),
        (None, "root", "boom"),
        (None, "cascade", "bye"),
    ]
    assert found[1].time == START + timedelta(seconds=5)


def test_a_line_is_placed_by_its_time() -> None:
    """With the points' times, a line comes right after the points that were logged before it."""
    points = table(
        "points",
        {
            "session": [0, 0, 0],
            "metric": "loss",
            "step": [10, 20, 30],
            "value": 1.0,
            "time": [START + timedelta(seconds=s) for s in (0, 10, 20)],
        },
    )
    events = findings(("loss", "spike", 10), ("g", "spike", 20), ("v", "spike", 30))
    log = lines(("r", "root", "boom", 12), ("q", "stop", "early", -5))

    assert [e.text for e in timeline(events, log, points)] == ["loss spiked", "g spiked", "boom", "v spiked", "early"]


def test_nothing_happened() -> None:
    """Empty tables have an empty timeline."""
    assert timeline(NO_FINDINGS, NO_LINES) == ()
    assert timeline(NO_FINDINGS, NO_LINES, table("points")) == ()


def test_the_weightiest_events_are_kept() -> None:
    """Still in order of step."""
    slopes = [(f"m{i}", "slope", i) for i in range(40)]
    found = timeline(findings(*slopes, ("loss", "divergence", 100), ("loss", "nonfinite", 200)), NO_LINES)

    assert len(found) == MAX_EVENTS
    assert [e.kind for e in found[-2:]] == ["divergence", "nonfinite"]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(sorted(FINDINGS)), st.none() | st.integers(0, 99)),
        min_size=1,
        max_size=30,
    )
)
def test_order_and_size(rows: list[tuple[str, str, int | None]]) -> None:
    """At most twelve events, in order of step, each metric and kind once, each at the first step it was found."""
    found = timeline(findings(*rows), NO_LINES)
    steps = [e.step for e in found if e.step is not None]

    assert len(found) <= MAX_EVENTS
    assert steps == sorted(steps)
    assert len({(e.metric, e.kind) for e in found}) == len(found)
    for e in found:
        mine = [s for m, k, s in rows if (m, k) == (e.metric, e.kind) and s is not None]
        assert e.step == min(mine, default=None)


def test_onsets_place_events_and_order_them() -> None:
    """The refined step counts, not that of the finding; lag and confidence refer to the onset before."""
    moved = (
        Onset("data_time", "data_time", "divergence", 0, step=2400, low=2390, high=2400, found=2370),
        Onset("speed", "throughput", "divergence", 0, step=2450, low=2395, high=2450, found=2300),
    )
    found = timeline(
        findings(("data_time", "divergence", 2370), ("speed", "divergence", 2300), ("loss", "spike", 2350)),
        NO_LINES,
        onsets=moved,
    )

    assert [(e.step, e.metric, e.after, e.lag) for e in found] == [
        (2350, "loss", None, None),
        (2400, "data_time", None, None),
        (2450, "speed", "data_time", 50),
    ]
    assert found[2].confidence is not None
    assert round(found[2].confidence, 3) == 0.977
    assert (found[1].low, found[1].high) == (2390, 2400)


def test_onsets_at_the_same_step_keep_their_order() -> None:
    """Whichever weighs more."""
    moved = (
        Onset("grad_norm", "grad_norm", "level_up", 0, step=60, low=50, high=60, found=60),
        Onset("loss", "train_loss", "nonfinite", 0, step=60, low=55, high=60, found=60),
    )
    events = findings(("loss", "nonfinite", 60), ("grad_norm", "level_up", 60), ("other", "nonfinite", 60))

    assert [e.metric for e in timeline(events, NO_LINES, onsets=moved)] == ["grad_norm", "loss", "other"]


def test_a_speed_falls_where_a_loss_jumps_up() -> None:
    """Level shifts are worded in the direction of the values, not of the harm; rate schedules are no events."""
    events = findings(("speed", "level_up", 10), ("loss", "level_up", 20), ("lr", "variance", 5))
    events = events.with_columns(role=pl.Series(["throughput", "train_loss", "learning_rate"]))

    assert [e.text for e in timeline(events, NO_LINES, down=["speed"])] == [
        "speed fell to a new level",
        "loss jumped up to a new level",
    ]
