"""The scalars of a JSON object: which are numbers, which texts are used, and which values are left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loganalyst.sources.files.flatten import Leaf, number
from loganalyst.sources.tables import stepcolumns

MAX_LIST = 64  # items; a longer list is a histogram or an image
MAX_DEPTH = 10
MEDIA = "_type"  # the key by which W&B marks images, tables and other media

_TEXTS = {*stepcolumns.TIMES, *stepcolumns.PARTS, *stepcolumns.KINDS, *stepcolumns.NAMES, *stepcolumns.NAMES_OF_VALUES}
# -0.5, 1.0e-4, nan, Infinity; not 42, which is mostly a name
_NUMBER = re.compile(r"-?(?:\d+\.\d+(?:[eE][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)

_CLOCK = re.compile(r"(?:(\d{1,4}) days?, )?(\d{1,3}):([0-5]\d):([0-5]\d(?:\.\d+)?)")  # `0:01:23`, `2 days, 4:05:06.7`


def values(
    record: Mapping[str, Any] | Sequence[Any], prefix: str = "", depth: int = 0, left: list[str] | None = None
) -> Iterator[tuple[str, Leaf]]:
    """(name, value) of the scalars in a record. Media and long lists are left out; their names are added to `left`."""
    items = record.items() if isinstance(record, Mapping) else enumerate(record)
    for key, value in items:
        name = f"{prefix}{key}"
        if not isinstance(value, dict | list):
            yield name, value
        elif depth < MAX_DEPTH and MEDIA not in value and (isinstance(value, dict) or len(value) <= MAX_LIST):
            yield from values(value, f"{name}/", depth + 1, left)
        elif left is not None:
            left.append(name)


def is_text_column(name: str) -> bool:
    """Whether the texts of a column are used: as times, as a part of the data (train, val), or as metric names."""
    return stepcolumns.normalised(name) in _TEXTS


def number_in(value: Leaf) -> float | None:
    """The number in a value; None where it holds none. A whole number written as text counts as a name, and a duration
    is in seconds.

    >>> number_in("0.25"), number_in("0:01:23"), number_in("7")
    (0.25, 83.0, None)
    """
    if isinstance(value, str) and len(value) <= 40 and (clock := _CLOCK.fullmatch(value)):
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return 86400 * days + 3600 * hours + 60 * minutes + seconds
    if isinstance(value, str) and not (len(value) <= 40 and _NUMBER.fullmatch(value)):
        return None
    return number(value)
