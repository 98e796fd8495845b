"""Thresholds that judge a training, from `rules/`: files of `name -> value, unit, meaning`."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from loganalyst.errors import RuleError, nearest
from loganalyst.rulefiles import Positive, Shape, Text, ours


class _Threshold(Shape, frozen=True):
    value: Positive
    unit: Text
    meaning: Text


def threshold(file: str, name: str, folder: Path | None = None) -> float:
    """One threshold of `rules/<file>.yaml` (or of that file in `folder`), in its unit.

    Raises RuleError for a file that is not valid and for a name that it lacks.

    >>> threshold("blame", "survived_after")
    2.0
    """
    known = _values(file, folder)
    if name not in known:
        raise RuleError(f"rules/{file}.yaml", f"no threshold {name!r}", nearest(name, known) or "see the file")
    return known[name]


@cache
def _values(file: str, folder: Path | None) -> Mapping[str, float]:
    entries = ours(f"{file}.yaml", dict[str, _Threshold], folder)
    return {name: entry.value for name, entry in entries.items()}


feature_limit = partial(threshold, "features")
blame_limit = partial(threshold, "blame")
checkpoint_limit = partial(threshold, "inspection")
reading_limit = partial(threshold, "reading")
verdict_limit = partial(threshold, "verdicts")
