"""The events of a run as rows, in order."""

from collections.abc import Callable, Sequence

from loganalyst.model import TimelineEvent
from loganalyst.report.common.rows import Row
from loganalyst.report.common.wording import clean, count, percent

MIN_ORDER_CONFIDENCE = 0.8  # from here on the order of two events is stated
TRACEBACK_HEAD = "Traceback (most recent call last):"  # left out: the error it leads to is an event of its own


def timeline_rows(events: Sequence[TimelineEvent], named: Callable[[int], str]) -> tuple[Row, ...]:
    """Each event with its step, `named` in words, or its time, and what it came after."""
    shown = [event for event in events if not event.text.endswith(TRACEBACK_HEAD)]
    return tuple(Row(_when(event, named), clean(event.text) + _order(event)) for event in shown)


def _when(event: TimelineEvent, named: Callable[[int], str]) -> str:
    """The step of an event, or the time of day."""
    if event.step is not None:
        return named(event.step)
    return f"{event.time:%H:%M:%S}" if event.time is not None else ""


def _order(event: TimelineEvent) -> str:
    """The metric that left its course before this one, or at about the same time."""
    if event.after is None or event.lag is None or event.confidence is None:
        return ""
    if event.confidence < MIN_ORDER_CONFIDENCE:
        return f", at about the same time as {clean(event.after)}"
    return f", {count(event.lag, 'step')} after {clean(event.after)} ({percent(event.confidence)} sure)"
