"""A span of time in words, for rules and reports alike."""

import math

__all__ = ["duration"]


def duration(seconds: float | None) -> str:
    """The two largest units of a time span in seconds.

    >>> from loganalyst.model.timespan import duration
    >>> duration(231186.0), duration(11520.0), duration(0.2), duration(None)
    ('2 d 16 h', '3 h 12 min', 'under 1 s', 'not known')
    """
    if seconds is None or not math.isfinite(seconds):
        return "not known"
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"
    whole = round(seconds)
    for unit, name, smaller, small_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit:
            rest = whole % unit // smaller
            return f"{whole // unit} {name}" + (f" {rest} {small_name}" if rest else "")
    return f"{whole} s"
