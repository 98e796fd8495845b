"""The list of an audit on a terminal."""

import polars as pl

from loganalyst.auditing.runlist import COLUMNS
from loganalyst.report.audit import screen as report


def test_hostile_names_stay_on_their_line() -> None:
    """Escapes and line breaks in a path or a message are not printed."""
    row = {"path": "/r/a\x1b[2J\nb", "status": "unreadable", "why": "bad\x1b]0;x\x07 thing\nmore"}
    nothing = pl.DataFrame(schema={"runs": pl.Int64})
    screen = report.render(pl.DataFrame([row], schema=COLUMNS), nothing, nothing)

    assert "\x1b" not in screen
    assert len(screen.splitlines()) == 4
