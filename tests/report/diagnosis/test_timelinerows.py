from dataclasses import replace
from datetime import UTC, datetime

from loganalyst import model
from loganalyst.report.diagnosis.document import document


def test_the_timeline_has_steps_and_times_and_no_empty_heads(failed):
    """What was raised stands there by itself."""
    at = datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC)
    events = (
        model.TimelineEvent(3, None, "loss", "spike", "loss spiked"),
        model.TimelineEvent(None, at, None, "root", "Traceback (most recent call last):"),
        model.TimelineEvent(None, at, None, "root", "ValueError: x"),
    )

    assert [(row.label, row.text) for row in document(replace(failed, timeline=events)).timeline] == [
        ("step 3", "loss spiked"),
        ("09:30:05", "ValueError: x"),
    ]
