"""What the kind of training limits: rules of other kinds do not apply, and an unsure kind caps the confidence."""

import pytest

from loganalyst.diagnosis import diagnose
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.kindcap import foreign, foreigners, limit
from loganalyst.diagnosis.logodds import logit
from loganalyst.diagnosis.rule import Rule
from loganalyst.model import Evidence, Features, FeatureValue
from loganalyst.pipeline import catalogue as ours

SURE, UNSURE = 0.8, 0.79
REWARDS: dict[str, FeatureValue] = {
    "reward_points": 200, "reward_metric": "reward", "reward_first": 1.0, "reward_last": 1.0, "reward_gain_z": 0.3,
    "reward_gain_relative": 0.01, "reward_best_gain_z": 0.9, "reward_trend": 0.0, "reward_trend_z": 0.0,
    "reward_lost_share": 0.1, "reward_other_gain_z": 0.0, "run_kind": "reinforcement",
}  # fmt: skip


def known(kind: str | None, probability: float | None = None) -> dict[str, FeatureValue]:
    return {"training_kind": kind, "training_kind_probability": probability}


@pytest.fixture(scope="module")
def all_rules() -> Catalogue:
    return ours()


def rule(catalogue: Catalogue, name: str) -> Rule:
    return catalogue.rules[name]


@pytest.mark.parametrize(
    ("name", "kind", "probability", "expected"),
    [
        ("reward-stagnation", "supervised", SURE, "supervised"),
        ("reward-stagnation", "supervised", UNSURE, None),
        ("reward-stagnation", "reinforcement", SURE, None),
        ("reward-stagnation", None, None, None),
        ("warmup-missing", "boosting", SURE, "boosting"),
        ("warmup-missing", "boosting", UNSURE, None),
        ("warmup-missing", "speech", SURE, None),
        ("code-exception", "boosting", SURE, None),
    ],
)
def test_a_rule_is_foreign_where_another_kind_is_sure(all_rules, name, kind, probability, expected):
    assert foreign(rule(all_rules, name), known(kind, probability)) == expected


@pytest.mark.parametrize("probability", [SURE, UNSURE, None])
@pytest.mark.parametrize("kind", ["supervised", "reinforcement", None])
def test_many_entries_at_once(all_rules: Catalogue, kind: str | None, probability: float | None) -> None:
    values = known(kind, probability)
    found = foreigners(all_rules.rules, values)

    assert found == {id_ for id_, one in all_rules.rules.items() if foreign(one, values)}
    assert bool(found) is (kind is not None and probability == SURE)


@pytest.mark.parametrize(
    ("name", "kind", "probability", "why"),
    [
        ("reward-stagnation", None, None, "the kind of training is not sure: nothing shows it"),
        (
            "reward-stagnation",
            "reinforcement",
            UNSURE,
            "the kind of training is not sure: it is probably reinforcement (79 %)",
        ),
        ("reward-stagnation", "reinforcement", SURE, None),
        ("warmup-missing", "boosting", UNSURE, "the kind of training is not sure: it is probably boosting (79 %)"),
        ("warmup-missing", "speech", UNSURE, None),
        ("warmup-missing", None, None, None),
        ("code-exception", None, None, None),
    ],
)
def test_an_unsure_kind_limits_the_rules_that_ask_for_it(all_rules, name, kind, probability, why):
    found = limit(rule(all_rules, name), known(kind, probability))

    assert (found and (found.highest, found.why)) == (why and (0.7, why))


@pytest.mark.parametrize(
    ("kind", "probability", "confidence", "capped"),
    [
        ("reinforcement", 0.95, 0.88, 1),  # a restated symptom
        ("reinforcement", 0.6, 0.7, 1),
        (None, None, 0.7, 1),
    ],
)
def test_a_capped_cause_says_why(all_rules, kind, probability, confidence, capped):
    found = diagnose(all_rules, Features(REWARDS | known(kind, probability)))

    assert found.causes[0].id == "reward-stagnation"
    assert found.causes[0].confidence == found.confidence == pytest.approx(confidence, abs=0.01)
    assert len(found.causes[0].limits) == capped


def test_a_symptom_of_another_kind_does_not_open(all_rules):
    """Nothing of reinforcement learning is said of a classifier; the rule says why it does not apply."""
    found = diagnose(all_rules, Features(REWARDS | known("supervised", 0.95)))

    assert (found.symptoms, found.causes) == ((), ())
    why = {r.id: r.why for r in found.ruled_out}
    assert why["reward-stagnation"] == "does not apply to this kind of training (supervised)"


def test_a_note_of_another_kind_is_not_shown(all_rules):
    little: dict[str, FeatureValue] = {
        "train_loss_points": 80, "train_loss_metric": "loss", "train_loss_drop_relative": 0.1, "run_kind": "training",
        "part_fell": False, "train_loss_divergence_count": 0,
    }  # fmt: skip
    shown = {
        kind: [note.id for note in diagnose(all_rules, Features(little | known(kind, 0.95))).notes]
        for kind in ("supervised", "adversarial")
    }

    assert shown == {"supervised": ["little-learned"], "adversarial": []}


def test_a_measurement_needs_no_kind(all_rules):
    """An experiment saw the cause itself."""
    seen = Evidence("experiment", "direct", True, "the reward did not rise", weight=logit(0.9), group="experiment")
    found = diagnose(all_rules, Features(REWARDS), (), {"reward-stagnation": [seen]})

    assert found.causes[0].confidence > 0.7
    assert found.causes[0].limits == ()
