"""Thresholds that judge, from `rules/`: files of `name -> value, unit, meaning`. Python holds none."""

from collections.abc import Mapping
from functools import cache, partial

from loganalyst import rulefiles
from loganalyst.errors import RuleError, nearest


def threshold(file: str, name: str) -> float:
    """The value of one threshold of `rules/<file>.yaml`, in the unit that stands beside it.

    Raises RuleError for a file that is not valid and for a name that it lacks.

    >>> threshold("blame", "survived_after")
    2.0
    """
    known = _values(file)
    if name not in known:
        raise RuleError(f"rules/{file}.yaml", f"no threshold {name!r}", nearest(name, known) or "see the file")
    return known[name]


@cache
def _values(file: str) -> Mapping[str, float]:
    loaded = rulefiles.load(rulefiles.rules_dir() / f"{file}.yaml")
    loaded.check_keys((), (), loaded.data if isinstance(loaded.data, dict) else ())
    for name, entry in loaded.data.items():
        loaded.check_keys((name,), ("value", "unit", "meaning"))
        if type(entry["value"]) not in (int, float) or not entry["value"] > 0:
            raise RuleError(loaded.where(name, "value"), f"found {entry['value']!r}", "a number above 0")
    return {name: float(entry["value"]) for name, entry in loaded.data.items()}


feature_limit = partial(threshold, "features")
blame_limit = partial(threshold, "blame")
checkpoint_limit = partial(threshold, "inspection")
