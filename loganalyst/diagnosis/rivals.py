"""Which causes compete for an observed symptom, which are consequences of others, and the share that each one gets.

Rivals for one symptom exclude each other, and an unnamed "other cause" of odds 1 competes with them.
"""

from collections.abc import Mapping
from dataclasses import replace

from loganalyst.diagnosis.judged import Judged, threshold
from loganalyst.diagnosis.logodds import odds
from loganalyst.thresholds import verdict_limit


def explained(judged: Mapping[str, Judged]) -> dict[str, str]:
    """The candidates that are consequences: id -> the topmost likelier candidate that explains it."""
    candidates = [j for j in judged.values() if j.candidate]
    ids = {j.rule.id for j in candidates}
    # Of two equally likely candidates the one that explains more comes first, so that no circle arises. Odds above the
    # cap do not count: a consequence that is seen directly is always surer than a cause that is not.
    cap = verdict_limit("indirect_cap")
    # That a restated symptom is sure says nothing against a likely reason for it, so it comes after that reason.
    sure = [j for j in candidates if j.alone >= verdict_limit("medium") and j.direct and not _restates(j)]
    reasons = {id_ for j in sure for id_ in j.rule.explains}
    candidates.sort(
        key=lambda j: (
            _restates(j) and j.rule.id in reasons,
            -min(j.alone, cap),
            -len(ids & set(j.rule.explains)),
            j.rule.id,
        )
    )
    parents: dict[str, str] = {}
    for i, j in enumerate(candidates):
        above = next((c.rule.id for c in candidates[:i] if j.rule.id in c.rule.explains), None)
        if above is not None:
            parents[j.rule.id] = parents.get(above, above)
    return parents


def _restates(judged: Judged) -> bool:
    return judged.rule.restates_symptom


def share(judged: Judged, every: Mapping[str, Judged]) -> Judged:
    """`p <- odds / (1 + sum of odds)` over the rule and its rivals, if it takes a share."""
    if not sharing(judged):
        return judged
    taken = sum(odds(j.alone) for j in every.values() if rivals(j, judged))
    p = odds(judged.alone) / (1 + taken)
    return replace(judged, share=p, confidence=p, verdict=threshold(p))


def rivals(a: Judged, b: Judged) -> bool:
    """Whether both compete: they explain the same observed symptom, and both cannot be true together."""
    return sharing(a) and sharing(b) and not set(a.seen).isdisjoint(b.seen) and not linked(a, b)


def linked(a: Judged, b: Judged) -> bool:
    """Whether both can be true: one may be the consequence of the other, or both only say what is visible."""
    both_visible = _restates(a) and _restates(b) and a.rule.id != b.rule.id
    return both_visible or b.rule.id in a.rule.explains or a.rule.id in b.rule.explains


def sharing(judged: Judged) -> bool:
    """Whether it takes a share: one of its symptoms was seen, it was judged, and no likelier cause explains it."""
    return bool(judged.seen) and judged.under is None and judged.verdict in ("likely", "possible", "unlikely")


def other(judged: Mapping[str, Judged]) -> float:
    """The probability that the observed symptoms have a cause that no rule names."""
    return 1 / (1 + sum(odds(j.alone) for j in judged.values() if sharing(j)))
