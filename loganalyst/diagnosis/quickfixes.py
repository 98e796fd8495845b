"""What to change first: the first fix of each cause, ranked by impact and confidence."""

from collections.abc import Sequence

from loganalyst.diagnosis.rule import SEVERITIES
from loganalyst.model import Cause, QuickFix, Symptom

__all__ = ["quick_fixes"]


def quick_fixes(causes: Sequence[Cause], symptoms: Sequence[Symptom]) -> tuple[QuickFix, ...]:
    """The first fix of each cause, by impact times confidence. Fixes of causes that ended the run come first, and
    those of causes that are only possible last, or not at all beside a likely cause that ended the run.
    """
    ended = any(cause.ended_run and cause.verdict == "likely" for cause in causes)
    shown = [cause for cause in causes if cause.ended_run or cause.verdict == "likely" or not ended]
    found = [(cause, _quick_fix(cause, symptoms)) for cause in shown if cause.fix]
    ranked = sorted(found, key=lambda pair: (*_rank(pair[0]), -pair[1].impact * pair[1].confidence, pair[1].cause))
    return tuple(fix for _, fix in ranked)


def _rank(cause: Cause) -> tuple[bool, bool]:
    return not cause.ended_run, cause.verdict != "likely"


def _quick_fix(cause: Cause, symptoms: Sequence[Symptom]) -> QuickFix:
    """The impact is the severity, from 0.25 (info) to 1 (critical), times the share of symptoms that it explains."""
    severity = (SEVERITIES.index(cause.severity) + 1) / len(SEVERITIES)
    explained = sum(s.id in cause.symptoms for s in symptoms) / max(len(symptoms), 1)
    fix = cause.fix[0]
    return QuickFix(cause.id, fix.change, fix.expected_impact, cause.severity, severity * explained, cause.confidence)
