"""The objects of `diagnose` and `audit`, shortened for readers with little room, such as agents. The contract stays.

The first entries of a list matter most, so a list loses its end (sessions lose their beginning). `left_out` counts the
lost entries by their place in the object.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["audit", "diagnosis"]

Json = dict[str, Any]

MAX_TEXT = 1000  # characters
MAX_RUNS = 20
# Place in the object -> entries kept; a negative number keeps the last entries
DIAGNOSIS = {
    "run.sources": 8,
    "run.coverage.not_judged": 6,
    "sessions": -4,
    "restart.attempts": -4,
    "symptoms": 5,
    "alternatives": 5,
    "ruled_out": 8,
    "not_supported": 8,
    "not_checked": 8,
    "timeline": 12,
    "notes": 4,
    "summary.metrics": 8,
    "gaps": 5,
    "baseline.changes": 12,
    "baseline.parted": 8,
    "baseline.together": 8,
    "analysis_artifacts.metrics": 0,  # `show` prints these three
    "analysis_artifacts.findings": 0,
    "analysis_artifacts.features": 0,
}
AUDIT = {"groups": 8, "groups.members": 5, "contrasts": 6, "copies": 3}


def diagnosis(whole: Mapping[str, Any], top: int = 5) -> Json:
    """The object of one diagnosis with at most `top` causes."""
    return _shortened(whole, {**DIAGNOSIS, "root_causes": top, "quick_fixes": top})


def audit(whole: Mapping[str, Any], top: int = MAX_RUNS) -> Json:
    """The object of an audit with the `top` worst runs."""
    return _shortened(whole, {**AUDIT, "runs": top})


def _shortened(whole: Mapping[str, Any], limits: Mapping[str, int]) -> Json:
    left_out: dict[str, int] = {}
    found: Json = _within(whole, "", limits, left_out)
    return {**found, "left_out": left_out}


def _within(value: Any, at: str, limits: Mapping[str, int], left_out: dict[str, int]) -> Any:
    """The `value` at the place `at`, shortened with everything below it. Adds the lost entries to `left_out`."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[: MAX_TEXT - 1]}…"
    if isinstance(value, Mapping):
        inner = {key: (v, f"{at}.{key}" if at else key) for key, v in value.items()}
        return {
            key: _within(_cut(v, place, limits, left_out), place, limits, left_out) for key, (v, place) in inner.items()
        }
    return [_within(v, at, limits, left_out) for v in value] if isinstance(value, Sequence) else value


def _cut(value: Any, at: str, limits: Mapping[str, int], left_out: dict[str, int]) -> Any:
    """The list or object at the place `at` with no more entries than its limit."""
    most = limits.get(at)
    if most is None or isinstance(value, str) or not isinstance(value, Sequence | Mapping) or len(value) <= abs(most):
        return value
    left_out[at] = left_out.get(at, 0) + len(value) - abs(most)
    if isinstance(value, Mapping):
        return dict(list(value.items())[:most])
    return value[most:] if most < 0 else value[:most]
