"""Whether rows are results of named experiments, such as one row for each model, and not the course of a training."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from loganalyst.sources.tables.stepcolumns import AXES, NAMES, PARTS, matching

_NUMBERS = re.compile(r"\d+")  # of `epoch 12`
_MIN_ROWS = 3  # fewer do not show whether each has a name of its own


def are_named(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a text names each row, no two rows alike, and nothing counts the rows.

    >>> are_named([{"model": name, "loss": 0.3} for name in ("bert", "gpt2", "rnn")])
    True
    >>> are_named([{"name": f"epoch {i}", "loss": 0.3} for i in range(3)])
    False
    >>> are_named([{"epoch": i, "note": f"lr {i}", "loss": 0.3} for i in range(3)])
    False
    """
    keys = {key for record in records for key in record}
    if len(records) < _MIN_ROWS or matching(keys, AXES):
        return False
    columns = [[record.get(key) for record in records] for key in keys - {*matching(keys, (*PARTS, *NAMES))}]
    return any(map(_is_of_names, columns))


def _is_of_names(column: Sequence[object]) -> bool:
    """Whether a column holds different names: texts that begin with a letter, and not one text with a number."""
    names = {value for value in column if isinstance(value, str) and value[:1].isalpha()}
    return len(names) == len(column) and len({_NUMBERS.sub("", name) for name in names}) > 1
