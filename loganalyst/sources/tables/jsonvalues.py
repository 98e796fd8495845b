"""What the values of a JSON object mean: which are numbers, which texts say something, which are left out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loganalyst.sources.files.flatten import Leaf, number
from loganalyst.sources.tables import stepcolumns

LONGEST_LIST = 64  # a longer one is a histogram or an image
DEEPEST = 10
MEDIA = "_type"  # the key by which W&B marks them

_TEXTS = {*stepcolumns.TIMES, *stepcolumns.PARTS, *stepcolumns.NAMES}
_NUMBER = re.compile(r"-?(?:\d+\.\d+(?:[eE][-+]?\d+)?|nan|inf|infinity)", re.IGNORECASE)


def values(
    record: Mapping[str, Any] | Sequence[Any], prefix: str = "", depth: int = 0, left: list[str] | None = None
) -> Iterator[tuple[str, Leaf]]:
    """(name, value) of the scalars of a record; media and long lists are left out, their names put to `left`."""
    items = record.items() if isinstance(record, Mapping) else enumerate(record)
    for key, value in items:
        name = f"{prefix}{key}"
        if not isinstance(value, dict | list):
            yield name, value
        elif depth < DEEPEST and MEDIA not in value and (isinstance(value, dict) or len(value) <= LONGEST_LIST):
            yield from values(value, f"{name}/", depth + 1, left)
        elif left is not None:
            left.append(name)


def tells(name: str) -> bool:
    """Whether the texts of a column say something: a time, a part of the data, a metric's name."""
    return stepcolumns.plain(name) in _TEXTS


def meant(value: Leaf) -> float | None:
    """The number that a value of a column without such texts is; whole numbers in texts are mostly names."""
    if isinstance(value, str) and not (len(value) <= 40 and _NUMBER.fullmatch(value)):
        return None
    return number(value)
