"""Probabilities of rules among rivals, and consequences."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loganalyst.diagnosis.rivals import other
from tests.diagnosis.smallcatalogues import catalogue_of, direct, item, judged, rule

INDIRECT_CAP = 0.90  # of rules/verdicts.yaml


def test_rivals_share() -> None:
    """P <- odds / (1 + sum of odds): an unnamed other cause keeps its share; the likeliest comes first."""
    found = judged(catalogue_of(direct("b", 0.8), direct("a", 0.75)), {"s": True})

    assert list(found) == ["b", "a"]
    assert found["b"].confidence == pytest.approx(4 / 8)
    assert found["a"].confidence == pytest.approx(3 / 8)
    assert (found["b"].verdict, found["a"].verdict) == ("likely", "possible")
    assert other(found) == pytest.approx(1 / 8)


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


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.02, 0.99), min_size=1, max_size=6))
@example([1 / 3, 1 / 3, 1 / 3])  # a share that rounding puts just below what is possible
def test_shares_and_the_other_cause_make_one(ps: list[float]) -> None:
    """Rivals for one symptom and the unnamed cause sum to 1; the order stays; no share grows."""
    found = judged(catalogue_of(*(direct(str(i), p) for i, p in enumerate(ps))), {"s": True})
    shares = [found[str(i)].confidence for i in range(len(ps))]

    assert sum(shares) + other(found) == pytest.approx(1.0)
    assert all(share <= p + 1e-9 for share, p in zip(shares, ps, strict=True))
    assert shares[ps.index(max(ps))] == max(shares)
