"""Numbers, durations, lists and untrusted text as words, the same in every renderer."""

import math
from collections.abc import Sequence

from loganalyst.model.timespan import duration
from loganalyst.visibletext import clean

__all__ = ["clean", "count", "duration", "number", "percent", "shortlist", "size", "span", "step"]


def number(value: float | None) -> str:
    """A value with three digits: `0.0258`, `1,500`, `2.0e-5`."""
    if value is None:
        return "not known"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Inf" if value > 0 else "-Inf")
    if value and not 0.01 <= abs(value) < 1e6:
        digits, exponent = f"{value:.1e}".split("e")
        return f"{digits}e{int(exponent)}"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def step(value: int | None) -> str:
    """A step: `1,500`."""
    return "not known" if value is None else f"{value:,}"


def count(n: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A probability in whole percent, never rounded to 0 % or 100 %."""
    rounded = round(100 * share)
    if share < 1 and rounded == 100:
        return "over 99 %"
    return "under 1 %" if share > 0 and rounded == 0 else f"{rounded} %"


def size(bytes_: int) -> str:
    """Bytes in the largest fitting unit."""
    value, unit = float(bytes_), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:,.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"


def span(first: int | None, last: int | None) -> str:
    """`12` or `12 to 90`, depending on which ends are known."""
    known = [f"{v:,}" for v in dict.fromkeys((first, last)) if v is not None]
    return " to ".join(known) or "not known"


def shortlist(items: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` items, and how many more there are.

    >>> shortlist(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    left_out = len(items) - most
    shown = between.join(items[:most])
    if left_out <= 0:
        return shown
    return f"{shown}{' ' if between == ', ' else between}and {left_out:,} more"
