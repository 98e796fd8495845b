"""Every rule and note of the catalogue passes its own tests and the general tests that need no run."""

import pytest

from loganalyst.diagnosis.ruletests import check
from loganalyst.rulecatalogue import catalogue

CATALOGUE = catalogue()
TESTED = {**CATALOGUE.rules, **CATALOGUE.notes}


@pytest.mark.parametrize("id_", TESTED)
def test_rule(id_: str) -> None:
    """The tests of one rule or note. A test that names a run is not run here."""
    outcomes = check(CATALOGUE.only([id_]))

    assert {test.name for test in TESTED[id_].tests} < {outcome.test for outcome in outcomes}
    assert [(outcome.test, outcome.detail) for outcome in outcomes if outcome.passed is False] == []


def test_every_symptom_has_a_rule() -> None:
    """A symptom that no rule explains would always end in "cause unknown"."""
    explained = {symptom for rule in CATALOGUE.rules.values() for symptom in rule.symptoms}

    assert set(CATALOGUE.symptoms) - explained == set()
