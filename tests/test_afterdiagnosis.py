"""What is asked of a run after its diagnosis."""

from pathlib import Path

import pytest

from loganalyst import pipeline
from loganalyst.afterdiagnosis import expectations, healthy_places, rejudged, symptom_answers
from loganalyst.model import Diagnosis, Evidence

RUN = Path(__file__).parents[1] / "fixtures" / "runs" / "nan-lr"


@pytest.fixture(scope="module", name="found")
def _found() -> Diagnosis:
    return pipeline.diagnose(RUN)


def test_other_evidence_changes_the_causes(found: Diagnosis) -> None:
    """A measurement against the first cause; without one the answer stays as it is."""
    same, _ = rejudged(found, {})
    against = Evidence("measured", "direct", False, "the rate is not the cause", -9.0)
    again, judged = rejudged(found, {"lr-too-high": [against]})

    assert [c.id for c in same.causes] == [c.id for c in found.causes]
    assert found.causes[0].id == "lr-too-high"
    assert judged["lr-too-high"].verdict == "unlikely"
    assert "lr-too-high" not in [c.id for c in again.causes]


def test_the_run_itself_keeps_no_promise(found: Diagnosis) -> None:
    """Its loss is NaN, which no fix of the rate promises."""
    holds = [promise.holds for promise in expectations(found, found)["lr-too-high"]]

    assert holds
    assert True not in holds


def test_symptoms_and_healthy_places(found: Diagnosis) -> None:
    """No healthy run has a NaN loss."""
    assert symptom_answers(found)["nan-loss"] is True
    assert healthy_places(found)["train_loss_nonfinite_count"].below == 0.995
