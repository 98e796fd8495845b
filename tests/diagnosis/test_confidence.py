"""Probabilities of rules alone and among rivals, consequences, and the confidence of "healthy"."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loganalyst.diagnosis import confidence
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.confidence import CAP, Judged, calibrate, judge_alone, scale_of
from loganalyst.diagnosis.evidence import Answer
from loganalyst.diagnosis.rule import Calibration, Item, Rule, Scale
from loganalyst.diagnosis.rulesql import ask
from loganalyst.model import Evidence, Feature, Verdict
from tests.diagnosis.smallcatalogues import answers, catalogue_of, item, rule

INDIRECT_CAP, METRICS_CAP = 0.90, 0.89  # of rules/verdicts.yaml


def test_alone_is_naive_bayes() -> None:
    """Log-odds of the prior plus what counted, through the logistic function."""
    r = rule("r", 0.1, item("a", 1.5, -0.5), item("b", 0.7, -0.3), item("c", 1.0, -1.0))
    found = judge_alone(r, answers({"s": True}, {"r": (True, False, None)}))

    assert found.counted == (1.5, -0.3, 0.0)
    assert found.alone == pytest.approx(1 / (1 + 9 * math.exp(-1.2)))
    assert (found.verdict, found.seen) == ("possible", ("s",))


def test_strongest_of_a_group_counts() -> None:
    """Correlated items count once: the largest in size, and of equal items the one that supports the cause."""
    r = rule("r", 0.1, item("a", 1.0, -2.0, "g"), item("b", 1.5, -0.5, "g"), item("c", 2.0, -0.1, "h"))

    assert judge_alone(r, answers({"s": True}, {"r": (True, True, False)})).counted == (0.0, 1.5, -0.1)
    assert judge_alone(r, answers({"s": True}, {"r": (False, True, None)})).counted == (-2.0, 0.0, 0.0)
    assert judge_alone(r, answers({"s": True}, {"r": (None, False, None)})).counted == (0.0, -0.5, 0.0)


@pytest.mark.parametrize(
    ("kind", "if_true", "holds", "expected"),
    [
        ("circumstantial", 7.0, True, INDIRECT_CAP),
        ("direct", 7.0, True, CAP),
        ("direct", -7.0, False, INDIRECT_CAP),
        ("direct", -1.0, True, INDIRECT_CAP),
    ],
)
def test_without_direct_evidence_90_percent_is_the_limit(
    kind: str, if_true: float, holds: bool, expected: float
) -> None:
    """Only a direct item that holds and supports the rule lifts the cap."""
    r = rule("r", 0.5, item("a", if_true, -if_true, kind=kind), item("b", 7.0, -1.0), item("c", 7.0, -1.0))

    assert judge_alone(r, answers({"s": True}, {"r": (holds, True, True)})).alone == expected


@pytest.mark.parametrize(
    ("applies", "symptoms", "holds", "expected"),
    [
        (False, (True, True), True, "not_applicable"),
        (None, (True, True), True, "unknown"),
        (True, (True, True), None, "unknown"),
        (True, (True, None), True, "likely"),
        (True, (True, False), True, "likely"),
        (True, (False, False), True, "unlikely"),
        (True, (False, None), True, "unknown"),
        (True, (None, None), True, "unknown"),
        (True, (None, None), False, "unlikely"),
        (True, (True, None), False, "unlikely"),
    ],
)
def test_a_cause_needs_a_seen_symptom(
    applies: Answer, symptoms: tuple[Answer, Answer], holds: Answer, expected: Verdict
) -> None:
    """None seen: unlikely; none seen but one not looked for: unknown, unless its own evidence is against it."""
    r = rule("r", 0.1, item("a", 4.0, -4.0, kind="direct"), symptoms=("s", "t"))
    found = judge_alone(r, answers(dict(zip("st", symptoms, strict=True)), {"r": (holds,)}, {"r": applies}))

    assert found.verdict == expected


@pytest.mark.parametrize(
    ("p", "expected"), [(0.5, "likely"), (0.4999, "possible"), (0.2, "possible"), (0.1999, "unlikely")]
)
def test_thresholds(p: float, expected: str) -> None:
    """Likely from 0.5, possible from 0.2."""
    assert confidence.threshold(p) == expected


def direct(id_: str, p: float, **more: object) -> Rule:
    """A rule that, with its one item answered TRUE, is alone at exactly p."""
    return rule(id_, 0.01, item("a", confidence.logit(p) - confidence.logit(0.01), -1.0, kind="direct"), **more)  # type: ignore[arg-type]


def judged(catalogue: Catalogue, symptoms: Mapping[str, Answer]) -> dict[str, Judged]:
    return confidence.judge(catalogue, answers(symptoms, dict.fromkeys(catalogue.rules, (True,))))


def test_rivals_share() -> None:
    """P <- odds / (1 + sum of odds): an unnamed other cause keeps its share; the likeliest comes first."""
    found = judged(catalogue_of(direct("b", 0.8), direct("a", 0.75)), {"s": True})

    assert list(found) == ["b", "a"]
    assert found["b"].confidence == pytest.approx(4 / 8)
    assert found["a"].confidence == pytest.approx(3 / 8)
    assert (found["b"].verdict, found["a"].verdict) == ("likely", "possible")
    assert confidence.other(found) == pytest.approx(1 / 8)


def test_only_a_seen_symptom_makes_rivals() -> None:
    """Rules that share no seen symptom do not share; a rule with two symptoms shares with the rivals of both."""
    rules = (direct("a", 0.8), direct("b", 0.8, symptoms=("t",)), direct("c", 0.5, symptoms=("s", "t", "u")))
    apart = judged(catalogue_of(*rules), {"s": True, "t": False, "u": True})
    both = judged(catalogue_of(*rules), {"s": True, "t": True, "u": False})

    assert apart["a"].confidence == pytest.approx(4 / 6)
    assert apart["b"].verdict == "unlikely"
    assert apart["c"].confidence == pytest.approx(1 / 6)
    assert both["a"].confidence == both["b"].confidence == pytest.approx(4 / 6)
    assert both["c"].confidence == pytest.approx(1 / 10)


def test_single_rule_keeps_its_probability() -> None:
    """Without rivals, sharing with the other cause changes nothing."""
    assert judged(catalogue_of(direct("a", 0.83)), {"s": True})["a"].confidence == pytest.approx(0.83)


def test_consequence_takes_no_share() -> None:
    """A cause that a likelier one explains is under it; one that explains a likelier one does not compete with it."""
    cause, effect = direct("cause", 0.9, explains=("effect",)), direct("effect", 0.8)
    found = judged(catalogue_of(effect, cause), {"s": True})
    reverse = judged(catalogue_of(direct("effect", 0.95), direct("cause", 0.85, explains=("effect",))), {"s": True})

    assert found["effect"].under == "cause"
    assert found["cause"].confidence == pytest.approx(0.9)
    assert found["effect"].confidence == pytest.approx(0.8)
    assert reverse["effect"].under is None
    assert reverse["cause"].confidence == pytest.approx(0.85)
    assert reverse["effect"].confidence == pytest.approx(0.95)


def test_a_cause_at_the_cap_explains_a_direct_consequence() -> None:
    """A consequence with direct evidence may be surer than the cap; it stays a consequence."""
    cause = rule("cause", 0.5, item("a", 5.0, 0.0), explains=("effect",))
    found = judged(catalogue_of(cause, direct("effect", 0.95)), {"s": True})

    assert found["cause"].alone == INDIRECT_CAP
    assert found["effect"].under == "cause"


@pytest.mark.parametrize(("reason", "under"), [(0.75, "cause"), (0.6, None)])
def test_a_restated_symptom_comes_after_a_likely_reason(reason: float, under: str | None) -> None:
    """A surer restatement of the symptom does not hide a cause that explains it, unless that cause is too unlikely."""
    effect = direct("effect", 0.95, restates_symptom=True, explains=("cause",))
    found = judged(catalogue_of(effect, direct("cause", reason, explains=("effect",))), {"s": True})

    assert found["effect"].under == under


def test_two_restated_symptoms_are_no_rivals() -> None:
    """Both say what is visible, so both can be true; a reason for the symptom competes with each of them."""
    visible = direct("a", 0.7, restates_symptom=True), direct("b", 0.6, restates_symptom=True)
    alone = judged(catalogue_of(*visible), {"s": True})
    beside = judged(catalogue_of(*visible, direct("reason", 0.5)), {"s": True})

    assert [round(alone[id_].share, 9) for id_ in ("a", "b")] == [0.7, 0.6]
    assert beside["a"].share == pytest.approx((7 / 3) / (1 + 7 / 3 + 1))
    assert beside["reason"].share == pytest.approx(1 / (1 + 7 / 3 + 1.5 + 1))


def test_a_restated_symptom_is_never_sure() -> None:
    """Its confidence has a limit, which the answer states; what a log says in words has none."""
    found = judged(catalogue_of(direct("effect", 0.95, restates_symptom=True)), {"s": True})["effect"]

    assert (round(found.share, 9), found.confidence) == (0.95, 0.88)
    assert found.limits == ("it says what happened, not why",)
    assert confidence._restated(replace(found, scale="logs")) is None


def test_unlikely_explains_nothing_and_is_no_consequence() -> None:
    """Only likely and possible rules are part of a chain."""
    found = judged(catalogue_of(direct("a", 0.19, explains=("b",)), direct("b", 0.1)), {"s": True})

    assert found["b"].under is None


def test_chains_end_at_the_topmost_cause() -> None:
    """A consequence of a consequence is shown under the first; of rules that explain each other the likelier counts."""
    rules = (
        direct("a", 0.9, explains=("b",)),
        direct("b", 0.8, explains=("c", "a")),
        direct("c", 0.7, explains=("a",)),
    )
    found = judged(catalogue_of(*rules), {"s": True})

    assert [found[id_].under for id_ in "abc"] == [None, "a", "a"]


def test_equally_likely_rules_never_explain_each_other() -> None:
    """In a ring of equally likely rules one stays on top."""
    rules = [direct(a, 0.9, explains=(b,)) for a, b in ("ab", "bc", "ca")]
    found = judged(catalogue_of(*rules), {"s": True})

    assert [found[id_].under for id_ in "abc"] == [None, "a", "a"]
    tie = judged(catalogue_of(direct("a", 0.9), direct("z", 0.9, explains=("a",))), {"s": True})

    assert (tie["a"].under, tie["z"].under) == ("z", None)


@given(st.floats(0.001, 0.999))
def test_calibration_is_the_identity_until_fitted(p: float) -> None:
    """Slope 1 and offset 0 change nothing."""
    assert calibrate(p, Calibration()) == pytest.approx(p)


def test_calibration_scales_log_odds() -> None:
    """Platt scaling; probabilities of 0 and 1 stay within bounds."""
    assert calibrate(0.9, Calibration(0.5, 0.0)) == pytest.approx(0.75)
    assert calibrate(0.5, Calibration(1.0, math.log(3))) == pytest.approx(0.75)
    assert calibrate(0.99, Calibration(1.0, 0.0, reach=math.log(9))) == pytest.approx(0.9)
    assert 0 <= calibrate(0.0, Calibration(100.0, -20.0)) <= calibrate(1.0, Calibration(100.0, 20.0)) <= 1


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


def asking(feature: str, if_true: float, kind: str = "direct") -> Item:
    """An item that asks for one feature."""
    return replace(
        item(feature, if_true, -1.0, kind=kind), ask=ask(feature, {feature: Feature(feature, "bool", "", "", "")})
    )


@pytest.mark.parametrize(
    ("items", "scale"),
    [
        ([asking("log_root_label", 6.8), asking("train_loss_points", 1.7)], "logs"),
        ([asking("log_root_label", 1.5), asking("train_loss_points", 1.7)], "causes"),
        ([asking("log_root_label", 1.7), asking("train_loss_points", 1.7)], "logs"),
        ([asking("job_end", 6.4), asking("train_loss_points", 9.0, "circumstantial")], "logs"),
        ([asking("log_pause_s", 6.4)], "causes"),  # a pace, whoever logged it
        ([asking("log_root_label", 6.8, "circumstantial")], "circumstantial"),
        ([asking("log_root_label", -1.0)], "circumstantial"),
    ],
)
def test_the_weightiest_direct_evidence_sets_the_scale(items: list[Item], scale: str) -> None:
    """Words of a log or of the scheduler have their own scale; items that do not hold do not count."""
    found = rule("r", 0.1, *items)

    assert scale_of(found, [True] * len(items)) == scale
    assert scale_of(found, [False] * len(items)) == scale_of(found, [None] * len(items)) == "circumstantial"


def test_a_measurement_is_no_word_of_a_log() -> None:
    """It sets the scale if it outweighs the line of the log, but not if it is evidence against the cause."""
    told = rule("r", 0.1, asking("log_root_label", 2.0))
    scales = [scale_of(told, [True], [Evidence("e", "direct", True, "", w)]) for w in (3.0, 1.0, -3.0)]

    assert scales == ["causes", "logs", "logs"]
    assert scale_of(told, [False], [Evidence("e", "direct", True, "", 1.0)]) == "causes"


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


answer_lists = st.lists(st.sampled_from([True, False, None]), min_size=4, max_size=4)
weights = st.floats(0.0, 7.0)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(weights, weights, st.sampled_from("gh"), st.sampled_from(["direct", "circumstantial"])),
        min_size=4,
        max_size=4,
    ),
    answer_lists,
    st.integers(0, 3),
)
def test_confidence_is_monotone(parts: list[tuple[float, float, str, str]], holds: list[Answer], turned: int) -> None:
    """An item that turns from FALSE or not known to TRUE never lowers the probability of a rule that it supports."""
    r = rule("r", 0.1, *(item(str(i), t, -f, g, kind=k) for i, (t, f, g, k) in enumerate(parts)))
    before = [*holds[:turned], False, *holds[turned + 1 :]]
    after = [*holds[:turned], True, *holds[turned + 1 :]]
    low, high = (judge_alone(r, answers({"s": True}, {"r": tuple(h)})).alone for h in (before, after))

    assert low <= high + 1e-12
    assert 0 < low < 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.02, 0.99), min_size=1, max_size=6))
@example([1 / 3, 1 / 3, 1 / 3])  # a share that rounding puts just below what is possible
def test_shares_and_the_other_cause_make_one(ps: list[float]) -> None:
    """Rivals for one symptom and the unnamed cause sum to 1; the order stays; no share grows."""
    found = judged(catalogue_of(*(direct(str(i), p) for i, p in enumerate(ps))), {"s": True})
    shares = [found[str(i)].confidence for i in range(len(ps))]

    assert sum(shares) + confidence.other(found) == pytest.approx(1.0)
    assert all(share <= p + 1e-9 for share, p in zip(shares, ps, strict=True))
    assert shares[ps.index(max(ps))] == max(shares)
