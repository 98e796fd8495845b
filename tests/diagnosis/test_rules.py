"""Every rule of the catalogue passes its own tests and the general tests that need no run."""

import pytest

from loganalyst.diagnosis.catalogue import load
from loganalyst.diagnosis.ruletests import Outcome, check
from loganalyst.features import declared
from loganalyst.rulefiles import rules_dir

CATALOGUE = load(declared(), [rules_dir()])


@pytest.mark.parametrize("outcome", check(CATALOGUE), ids=lambda o: f"{o.rule}: {o.test}")
def test_rule(outcome: Outcome) -> None:
    """One test of one rule."""
    if outcome.passed is None:
        pytest.skip(outcome.detail)

    assert outcome.passed, outcome.detail


def test_every_symptom_has_a_rule() -> None:
    """A symptom that no rule explains would always end in "cause unknown"."""
    explained = {symptom for rule in CATALOGUE.rules.values() for symptom in rule.symptoms}

    assert set(CATALOGUE.symptoms) - explained == set()
