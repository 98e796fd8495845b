"""Probabilities of rules by their own evidence alone."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loganalyst.diagnosis.evidence import Answer
from loganalyst.diagnosis.logodds import CAP
from loganalyst.diagnosis.ownevidence import judge_alone, scale_of
from loganalyst.diagnosis.rule import Item
from loganalyst.model import Evidence, Verdict
from tests.diagnosis.smallcatalogues import answers, asking, item, rule

INDIRECT_CAP = 0.90  # of rules/verdicts.yaml
answer_lists = st.lists(st.sampled_from([True, False, None]), min_size=4, max_size=4)
weights = st.floats(0.0, 7.0)


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
