"""How sure the roles of the metrics behind a feature are."""

from collections.abc import Callable
from dataclasses import replace

from loganalyst import features
from loganalyst.features.context import Context
from loganalyst.features.rolecertainty import marked
from loganalyst.model import Feature, Features, Witness
from tests.curves.curvesof import curves_of

RATE = Feature("lr_peak", "float", "", "", "learning_rate and train_loss")


def test_a_witness_with_a_metric() -> None:
    curve = replace(*curves_of({"score": [1.0]}), role_confidence=0.6)

    assert marked(Witness("score", 3), RATE, 1.0, {"score": curve}, {}) == Witness("score", 3, role_confidence=0.6)
    assert marked(Witness("ln ppl"), RATE, 1.0, {"score": curve}, {}) == Witness("ln ppl")


def test_a_value_without_a_witness_rests_on_what_it_needs() -> None:
    sure, unsure, unknown = (replace(*curves_of({"x": [1.0]}), role_confidence=p) for p in (0.9, 0.6, None))

    assert marked(None, RATE, 1.0, {}, {"learning_rate": sure, "train_loss": unsure}) == Witness(role_confidence=0.6)
    assert marked(None, RATE, 1.0, {}, {"learning_rate": unknown}) is None
    assert marked(None, RATE, None, {}, {"learning_rate": unsure}) is None


def test_such_a_witness_names_no_place() -> None:
    assert [w.placed for w in (Witness(), Witness(role_confidence=0.6), Witness("x", role_confidence=0.6))] == [
        False,
        False,
        True,
    ]


def test_features_of_an_unsure_reward(context_of: Callable[..., Context]) -> None:
    context = context_of({"reward": [float(k) for k in range(30)]})
    doubted = replace(context, curves=[replace(c, role_confidence=0.6) for c in context.curves])
    found: Features = features.compute(doubted)

    assert found.witnesses["reward_last"].role_confidence == 0.6
    assert found.witnesses["reward_points"].role_confidence == 0.6
