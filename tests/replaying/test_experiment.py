"""Experiments and their statements in rules/replay.yaml."""

import pytest

from loganalyst.errors import ReplayError
from loganalyst.pipeline import catalogue
from loganalyst.replaying import forensics
from loganalyst.replaying.experiment import find, names


def test_every_file_is_stated_in_the_rules_and_every_statement_has_a_file():
    assert {*names(), forensics.NAME} == set(catalogue().experiments)


def test_weights_are_of_rules_and_labels_that_exist():
    known = {name for rule in catalogue().rules.values() for name in (rule.id, rule.label)}
    stated = [w for e in catalogue().experiments.values() for o in e.outcomes.values() for w in o.weights]

    assert set(stated) - known == set()


def test_an_unknown_experiment_is_refused_with_the_nearest():
    with pytest.raises(ReplayError, match="lr_counterfactua: is not an experiment; did you mean 'lr_counterfactual'"):
        find("lr_counterfactua")
