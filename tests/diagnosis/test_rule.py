"""The weights that outcomes of experiments have for rules."""

from dataclasses import replace

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.rule import ExperimentRule, OutcomeRule

EXPERIMENT = ExperimentRule(
    "smaller-rate", "Does it vanish?", "rate", {}, {"vanished": OutcomeRule("yes", {"lr_too_high": 2.0, "other": -1.0})}
)


def test_a_weight_is_by_the_rules_own_then_id_then_label(catalogue: Catalogue) -> None:
    """Without any of them it is 0."""
    rule = catalogue.rules["lr-too-high"]
    by_id = replace(EXPERIMENT, outcomes={"vanished": OutcomeRule("yes", {"lr_too_high": 2.0, "lr-too-high": 3.0})})
    own = replace(rule, replay_weights={"smaller-rate": {"vanished": 1.5}})

    assert EXPERIMENT.weight(rule, "vanished") == 2.0
    assert by_id.weight(rule, "vanished") == 3.0
    assert by_id.weight(own, "vanished") == 1.5
    assert EXPERIMENT.weight(rule, "inconclusive") == 0.0
    assert EXPERIMENT.bears_on(rule)
    assert not EXPERIMENT.bears_on(catalogue.rules["converged"])


def test_the_questions_of_a_rule(catalogue: Catalogue) -> None:
    """When it applies, its evidence, and the promise of its fix."""
    asks = [ask.text for ask in catalogue.rules["lr-too-high"].asks]

    assert asks[0] == "train_loss_points >= 20"
    assert asks[-1] == "train_loss_divergence_count = 0"
    assert len(asks) == 5
