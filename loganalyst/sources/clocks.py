"""Clocks that differ: a tracker records UTC, and the program prints the local time without its zone."""

from datetime import datetime, timedelta

import polars as pl

ZONE = timedelta(minutes=15)  # time zones differ by whole multiples of it
MAX_ZONE = timedelta(hours=14)
MAX_APART = timedelta(minutes=1)  # between the starts of two records of the same run


def on_one_clock(sessions: pl.DataFrame) -> tuple[datetime, datetime] | None:
    """Start and end of a run with one session, of which two records disagree by the distance of two time zones.

    None where the records agree, or where the distance may be time that passed. The earlier clock counts.

    >>> hour = datetime(2026, 1, 1, 8)
    >>> rows = [(0, hour, hour + timedelta(minutes=5)), (0, hour.replace(hour=16), hour.replace(hour=16, minute=6))]
    >>> on_one_clock(pl.DataFrame(rows, schema=["session", "started", "ended"], orient="row"))
    (datetime.datetime(2026, 1, 1, 8, 0), datetime.datetime(2026, 1, 1, 8, 6))
    """
    spans = sessions.drop_nulls(["started", "ended"]).select("started", "ended").unique().sort("started").rows()
    if sessions["session"].n_unique() != 1 or len(spans) != 2:
        return None
    (start, end), (other, other_end) = spans
    zone = ZONE * round((other - start) / ZONE)
    if other <= end or not zone or zone > MAX_ZONE or abs(other - start - zone) > MAX_APART:
        return None
    return min(start, other - zone), max(end, other_end - zone)
