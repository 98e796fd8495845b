"""The confidence of rules: their order, their calibration and its limits."""

import math
from dataclasses import replace

import pytest

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.rule import Calibration, Scale
from loganalyst.model import Evidence
from tests.diagnosis.smallcatalogues import answers, asking, catalogue_of, direct, item, judged, rule

INDIRECT_CAP, METRICS_CAP = 0.90, 0.89  # of rules/verdicts.yaml


def test_a_restated_symptom_is_never_sure() -> None:
    """Its confidence has a limit, which the answer states; what a log says in words has none."""
    found = judged(catalogue_of(direct("effect", 0.95, restates_symptom=True)), {"s": True})["effect"]

    assert (round(found.share, 9), found.confidence) == (0.95, 0.88)
    assert found.limits == ("it says what happened, not why",)
    assert confidence._restated(replace(found, scale="logs")) is None


def test_the_likeliest_rival_is_calibrated_and_the_others_share_the_rest() -> None:
    """Sharing comes first; then direct evidence has one calibration, other evidence another, at most 0.90."""
    seen, guessed = direct("seen", 0.8), rule("guessed", 0.5, item("a", math.log(3), 0.0))
    scales: dict[Scale, Calibration] = {
        "causes": Calibration(1.0, math.log(2)),
        "circumstantial": Calibration(1.0, -math.log(2)),
    }
    found = judged(replace(catalogue_of(seen, guessed), scales=scales), {"s": True})

    assert (found["seen"].alone, found["guessed"].alone) == (pytest.approx(0.8), pytest.approx(0.75))
    assert found["seen"].confidence == pytest.approx(2 / 3)  # odds 4 / (1 + 3) = 1, doubled
    assert found["guessed"].confidence == pytest.approx(0.25)  # of 1 / 2 it had 3 / 8; of 1 / 3 as large a part
    assert (found["seen"].verdict, found["guessed"].verdict) == ("likely", "possible")
    sure = replace(catalogue_of(guessed), scales={"circumstantial": Calibration(1.0, 9.0)})
    assert judged(sure, {"s": True})["guessed"].confidence == INDIRECT_CAP


def test_a_cause_that_a_log_states_has_its_own_scale() -> None:
    """Odds of 4, halved for logs, and of 3, doubled for metrics."""
    scales: dict[Scale, Calibration] = {
        "causes": Calibration(1.0, math.log(2)),
        "logs": Calibration(1.0, -math.log(2)),
    }
    told = rule("told", 0.5, asking("log_root_label", math.log(4)), symptoms=("s",))
    shown = rule("shown", 0.5, asking("train_loss_points", math.log(3)), symptoms=("t",))
    found = judged(replace(catalogue_of(told, shown), scales=scales), {"s": True, "t": True})

    assert found["told"].confidence == pytest.approx(2 / 3)
    assert found["shown"].confidence == pytest.approx(6 / 7)
    assert list(found) == ["shown", "told"]


@pytest.mark.parametrize(
    ("status", "first"), [("failed", "told"), ("killed", "told"), ("cancelled", "shown"), (None, "shown")]
)
def test_the_cause_that_ended_a_failed_run_comes_first(status: str | None, first: str) -> None:
    """A cancelled run is different: a user may cancel it because of its curves."""
    told = rule("told", 0.5, asking("log_root_label", math.log(4)), symptoms=("s",))
    shown = rule("shown", 0.5, asking("train_loss_points", math.log(9)), symptoms=("t",))
    given = answers({"s": True, "t": True}, {"told": (True,), "shown": (True,)})
    given = replace(given, values={**given.values, "run_status": status})

    found = confidence.judge(catalogue_of(told, shown), given)
    assert next(iter(found)) == first
    assert (found["told"].ended, found["shown"].ended) == (first == "told", False)


@pytest.mark.parametrize(("family", "first"), [("speed", "wrong"), ("f", "slow")])
def test_other_faults_come_before_a_slow_run(family: str, first: str) -> None:
    """A slow run learns the same, only later. Of two other faults the likelier comes first."""
    slow = rule("slow", 0.5, item("a", math.log(9), 0.0, kind="direct"), symptoms=("s",), family=family)
    wrong = rule("wrong", 0.5, item("a", math.log(4), 0.0, kind="direct"), symptoms=("t",))
    possible = rule("possible", 0.2, item("a", math.log(2), 0.0, kind="direct"), symptoms=("u",))
    found = judged(catalogue_of(slow, wrong, possible), {"s": True, "t": True, "u": True})

    assert next(iter(found)) == first
    assert list(found)[-1] == "possible"


@pytest.mark.parametrize(("weight", "verdict", "confidence"), [(9.0, "likely", METRICS_CAP), (0.3, "possible", 0.3665)])
def test_confidence_stays_within_the_range_of_the_verdict(weight: float, verdict: str, confidence: float) -> None:
    """A share of 0.37 is possible and stays 0.37, for calibration is fitted on likely causes. What only metrics show is
    at most 0.89.
    """
    generous = replace(
        catalogue_of(rule("a", 0.3, item("a", weight, 0.0, kind="direct"))), scales={"causes": Calibration(1.0, 9.0)}
    )
    found = judged(generous, {"s": True})["a"]

    assert (found.verdict, found.confidence) == (verdict, pytest.approx(confidence, abs=1e-4))


def test_the_rest_is_shared_without_a_floor() -> None:
    """With a lead at 0.95, three equal rivals have 0.05 together with the other cause: none is raised to 0.20."""
    lead, *others = direct("lead", 0.9), direct("a", 0.5), direct("b", 0.5)
    found = judged(catalogue_of(lead, *others), {"s": True})

    assert [round(found[id_].confidence, 4) for id_ in ("lead", "a", "b")] == [0.75, 0.0833, 0.0833]
    assert found["a"].listed
    sure = replace(catalogue_of(lead, *others), scales={"causes": Calibration(1.0, math.log(9))})
    less = judged(sure, {"s": True})
    assert [round(less[id_].confidence, 4) for id_ in ("lead", "a", "b")] == [METRICS_CAP, 0.0367, 0.0367]
    assert not less["a"].listed


def test_a_measurement_is_not_calibrated() -> None:
    """The calibration is that of logs. An experiment that multiplies the odds of 1 by 99 counts in full."""
    alone = replace(catalogue_of(direct("a", 0.5)), scales={"causes": Calibration(0.1, 0.0)})
    shown = Evidence("e", "direct", True, "", math.log(99))
    found = confidence.judge(alone, answers({"s": True}, {"a": (True,)}), (), {"a": [shown]})

    assert found["a"].confidence == pytest.approx(0.99)


def test_a_group_without_a_candidate_is_not_calibrated() -> None:
    """The calibration is that of first causes; it would raise a share of 0.09 to 0.99."""
    generous = replace(catalogue_of(direct("a", 0.1)), scales={"causes": Calibration(1.0, 9.0)})

    assert judged(generous, {"s": True})["a"].confidence == pytest.approx(0.1)


def test_rivals_at_the_edge_of_their_verdict_keep_their_order() -> None:
    """Both are calibrated to just below possible; the one with the larger share comes first, whatever its name."""
    generous = replace(
        catalogue_of(rule("a", 0.1, item("x", 0.1, 0.0)), rule("b", 0.15, item("y", 0.1, 0.0))),
        scales={"circumstantial": Calibration(1.0, 9.0)},
    )

    assert list(judged(generous, {"s": True})) == ["b", "a"]
