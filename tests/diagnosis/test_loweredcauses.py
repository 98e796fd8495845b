"""Causes lowered by failed fixes."""

import math
from pathlib import Path

import pytest

from loganalyst.diagnosis.loweredcauses import lowered
from loganalyst.model import Cause, Diagnosis, Run


def cause(id_: str, confidence: float) -> Cause:
    verdict = "likely" if confidence >= 0.5 else "possible"
    return Cause(id_, "label", "issue", "error", confidence, "low", verdict, "", "", (), ())


def diagnosis(*causes: Cause) -> Diagnosis:
    return Diagnosis(Run(path=Path("run")), "diagnosis_complete", causes[0].confidence, causes=causes)


def test_a_lowered_cause_falls_behind_the_next() -> None:
    """Log-odds are added; the text becomes evidence; the next likely cause gives the confidence."""
    found = lowered(
        diagnosis(cause("first", 0.8), cause("second", 0.6)), {"first": (-math.log(12), "three fixes failed")}
    )

    assert [(c.id, c.verdict) for c in found.causes] == [("second", "likely"), ("first", "possible")]
    assert found.causes[1].confidence == pytest.approx(0.25)
    assert [(e.id, e.text, e.weight) for e in found.causes[1].evidence] == [
        ("fixes-failed", "three fixes failed", -math.log(12))
    ]
    assert (found.status, found.confidence) == ("diagnosis_complete", 0.6)


def test_without_a_likely_cause_it_is_unknown() -> None:
    """The confidence is the probability that none of the causes is right."""
    found = lowered(diagnosis(cause("first", 0.8), cause("second", 0.3)), {"first": (-math.log(12), "failed")})

    assert (found.status, found.confidence) == ("cause_unknown", pytest.approx(1 - 0.25 - 0.3))


def test_other_causes_change_nothing() -> None:
    """A weight for a cause that the run does not have leaves the diagnosis as it is."""
    before = diagnosis(cause("first", 0.8))

    assert lowered(before, {"other": (-2.0, "failed")}) is before
