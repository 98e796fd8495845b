"""Lowers causes by evidence from outside the run's own logs, and ranks them again."""

from collections.abc import Mapping
from dataclasses import replace

from loganalyst.diagnosis.confidence import tier
from loganalyst.diagnosis.judged import threshold
from loganalyst.diagnosis.judgement import band
from loganalyst.diagnosis.logodds import logit, sigmoid
from loganalyst.model import Cause, Diagnosis, Evidence

EVIDENCE = "fixes-failed"


def lowered(found: Diagnosis, weights: Mapping[str, tuple[float, str]]) -> Diagnosis:
    """The diagnosis with log-odds added to causes, by id; the text of each weight becomes evidence.

    If no likely cause is left, the status becomes `cause_unknown`, with the probability that none of them is right.
    """
    if not weights.keys() & {c.id for c in found.causes}:
        return found
    causes = [_lowered(c, *weights[c.id]) if c.id in weights else c for c in found.causes]
    causes.sort(key=lambda c: (*tier(c.ended_run, c.verdict, c.family), -c.confidence))
    likely = [c.confidence for c in causes if c.verdict == "likely"]
    if found.status != "diagnosis_complete" or likely:
        return replace(found, causes=tuple(causes), confidence=likely[0] if likely else found.confidence)
    left = 1.0 - min(sum(c.confidence for c in causes), 1.0)
    return replace(found, causes=tuple(causes), status="cause_unknown", confidence=left)


def _lowered(cause: Cause, weight: float, text: str) -> Cause:
    p = sigmoid(logit(cause.confidence) + weight)
    item = Evidence(EVIDENCE, "circumstantial", True, text, weight)
    verdict, ended = threshold(p), cause.ended_run and threshold(p) == "likely"
    evidence = (*cause.evidence, item)
    return replace(cause, confidence=p, band=band(p), verdict=verdict, evidence=evidence, ended_run=ended)
