"""The timeline below the curves."""

import re

from loganalyst.report.diagnosis import html
from loganalyst.report.diagnosis.html import strip
from loganalyst.report.diagnosis.html.axis import Axis


def test_events_are_drawn_at_their_steps(failed):
    """Events that are close get different rows."""
    text = html.render(failed)
    strip = text[text.index('class="plot strip"') :]

    places = re.findall(r'<svg x="([0-9.]+)%" class="at m-\w+ event" data-at="([0-9]+)">', strip)
    assert places == [("99.590", "24549"), ("99.756", "24590"), ("100.000", "24650")]
    heights = re.findall(r'<circle cy="([0-9.]+)"', strip)
    assert len(set(heights)) == 3


def test_events_without_a_place_need_no_picture(failed):
    """Its height is that of the rows; 0 where no event is on the axis."""
    assert strip.height(failed.timeline, Axis(0, 10)) == 0
    assert strip.height(failed.timeline, Axis(0, 30_000)) == 3 * strip.ROW_HEIGHT + 6
