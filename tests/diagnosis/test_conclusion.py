"""The answer for a run: accepted causes leave it, and causes name their origin."""

import pytest

from fixtures.truth import RUNS
from loganalyst.diagnosis.conclusion import rejudge
from loganalyst.model import Diagnosis, Evidence
from loganalyst.pipeline import catalogue
from tests.recorded import diagnosed


@pytest.fixture
def found() -> Diagnosis:
    return diagnosed(RUNS / "nan-lr")


def test_an_accepted_cause_is_counted_and_not_named(found: Diagnosis) -> None:
    accepted = {cause.id: f"{cause.id}: known" for cause in found.causes}
    again, judged = rejudge(found, catalogue(), {}, accepted=accepted, origins={})

    assert (again.status, again.causes, again.quick_fixes) == ("healthy", (), ())
    assert again.ignored_findings == tuple(accepted.values())
    assert next(iter(judged)) == "lr-too-high"


def test_without_new_evidence_the_answer_is_the_same(found: Diagnosis) -> None:
    again, _ = rejudge(found, catalogue(), {}, accepted={}, origins={})

    assert [(c.id, c.confidence) for c in again.causes] == [(c.id, c.confidence) for c in found.causes]
    assert again.confidence == found.confidence


def test_evidence_from_elsewhere_changes_the_confidence(found: Diagnosis) -> None:
    against = Evidence("replay", "direct", text="a replay at the same rate did not diverge", holds=False, weight=-9.0)
    _, before = rejudge(found, catalogue(), {}, accepted={}, origins={})
    _, after = rejudge(found, catalogue(), {"lr-too-high": [against]}, accepted={}, origins={})

    assert after["lr-too-high"].confidence < before["lr-too-high"].confidence
