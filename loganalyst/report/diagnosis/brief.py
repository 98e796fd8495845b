"""The objects of `diagnose`, `audit`, `check`, `verify` and `compare`, shortened for readers with little room (agents).

The first entries of a list matter most, so a list loses its end (sessions lose their beginning). `left_out` counts the
lost entries by their place in the object. With a limit of characters, an object also loses fields that are null or
empty, and lists are cut until it fits.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["MAX_RUNS", "audit", "comparison", "diagnosis", "settings_check", "size", "verification"]

Json = dict[str, Any]
Limits = Mapping[str, int]  # place in the object -> entries kept; a negative number keeps the last entries

MAX_TEXT = 1000  # characters
MAX_RUNS = 20
DIAGNOSIS: Limits = {
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
LESS: Limits = {  # what a reader of the causes misses least
    "run.coverage.not_judged": 0,
    "run.kind.witnesses": 0,
    "ruled_out": 0,
    "not_supported": 0,
    "not_checked": 0,
    "quick_fixes": 0,
    "root_causes.references": 0,
    "root_causes.templates": 0,
    "root_causes.prevention": 0,
}
COMPARISON: Limits = {
    "unrelated": 1, "unrelated.runs": 0, "duplicates": 3, "regressions": 8, "sensitivity.importances": 8,
    "sensitivity.importances.profile": 6, "seeds.groups": 3, "seeds.groups.runs": 5, "seeds.groups.settings": 8,
}  # fmt: skip
AUDIT: Limits = {"groups": 8, "groups.members": 5, "contrasts": 6, "copies": 3}


class Rung(NamedTuple):
    """One way to shorten: the entries kept of each list, and the characters kept of each text."""

    limits: Limits
    text: int = MAX_TEXT


def diagnosis(whole: Mapping[str, Any], top: int = 5, most: int | None = None) -> Json:
    """The object of one diagnosis with at most `top` causes; in about `most` characters, if given."""
    limits = {**DIAGNOSIS, "root_causes": top, "quick_fixes": top}
    if most is None:
        return _shortened(whole, Rung(limits))
    return _fitted(whole, _rungs({**limits, **LESS}, "root_causes", top), most)


def audit(whole: Mapping[str, Any], top: int = MAX_RUNS, most: int | None = None) -> Json:
    """The object of an audit with the `top` worst runs; in about `most` characters, if given."""
    limits = {**AUDIT, "runs": top}
    return _shortened(whole, Rung(limits)) if most is None else _fitted(whole, _rungs(limits, "runs", top), most)


def comparison(whole: Mapping[str, Any], top: int = 5, most: int | None = None) -> Json:
    """The object of a comparison with the `top` best runs; in about `most` characters, if given."""
    limits = {**AUDIT, **COMPARISON, "runs": top}
    return _shortened(whole, Rung(limits)) if most is None else _fitted(whole, _rungs(limits, "runs", top), most)


def verification(whole: Mapping[str, Any], most: int | None = None) -> Json:
    """The object of a verification; in about `most` characters, if given."""
    return _shortened(whole, Rung({})) if most is None else _fitted(whole, _rungs({"checks": 4}, "checks", 4), most)


def settings_check(whole: Mapping[str, Any], most: int | None = None) -> Json:
    """The object of checked settings, the worst findings first; in about `most` characters, if given."""
    limits = {"findings.sources": 2, "usual": 6, "missing": 6, "facts": 12}
    return _shortened(whole, Rung({})) if most is None else _fitted(whole, _rungs(limits, "findings", 8), most)


def size(value: Any) -> int:
    """The characters of a value as compact JSON."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def _rungs(limits: Limits, main: str, top: int) -> Iterator[Rung]:
    """Ever shorter ways: other lists shrink first, to nothing, then texts, and the `main` list last, to one entry."""
    shorter = {f"{main}.evidence": 5, "checks.promises": 5, **limits}
    yield Rung(shorter)
    for share, text in ((2, 400), (4, 300), (8, 200)):
        items = max(6 - share, 2)
        inner = {f"{main}.evidence": items, "timeline": items, "checks.promises": items}
        cut = {place: _part(kept, share) for place, kept in shorter.items()}
        yield Rung({**cut, **inner, main: max(top // (share // 2), 1)}, text)
    yield Rung({**dict.fromkeys(shorter, 0), f"{main}.evidence": 1, main: 1}, 120)


def _part(kept: int, share: int) -> int:
    """The `share`-th part of a limit, which stays negative if it is."""
    return kept // share if kept >= 0 else -max(-kept // share, 1)


def _fitted(whole: Mapping[str, Any], rungs: Iterator[Rung], most: int) -> Json:
    """The object by the first of the rungs by which it fits, else by the last one."""
    found: Json = {}
    for rung in rungs:
        found = _without_empty(_shortened(whole, rung))
        if size(found) <= most:
            break
    return found


def _without_empty(value: Any) -> Any:
    """The value without the fields of objects that are null or empty."""
    if isinstance(value, Mapping):
        inner = {key: _without_empty(v) for key, v in value.items()}
        return {key: v for key, v in inner.items() if v is not None and v not in ([], {}, "")}
    return [_without_empty(v) for v in value] if isinstance(value, list | tuple) else value


def _shortened(whole: Mapping[str, Any], rung: Rung) -> Json:
    left_out: dict[str, int] = {}
    found: Json = _within(whole, "", rung, left_out)
    return {**found, "left_out": left_out}


def _within(value: Any, at: str, rung: Rung, left_out: dict[str, int]) -> Any:
    """The `value` at the place `at`, shortened with everything below it. Adds the lost entries to `left_out`."""
    if isinstance(value, str):
        return value if len(value) <= rung.text else f"{value[: rung.text - 1]}…"
    if isinstance(value, Mapping):
        inner = {key: (v, f"{at}.{key}" if at else key) for key, v in value.items()}
        return {
            key: _within(_cut(v, place, rung.limits, left_out), place, rung, left_out)
            for key, (v, place) in inner.items()
        }
    return [_within(v, at, rung, left_out) for v in value] if isinstance(value, Sequence) else value


def _cut(value: Any, at: str, limits: Limits, left_out: dict[str, int]) -> Any:
    """The list or object at the place `at` with no more entries than its limit."""
    most = limits.get(at)
    if most is None or isinstance(value, str) or not isinstance(value, Sequence | Mapping) or len(value) <= abs(most):
        return value
    left_out[at] = left_out.get(at, 0) + len(value) - abs(most)
    if isinstance(value, Mapping):
        return dict(list(value.items())[:most])
    return value[most:] if most < 0 else value[:most]
