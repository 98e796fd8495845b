"""Invariants of every answer, for rows mixed from the tests of all rules with features removed."""

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from loganalyst import pipeline
from loganalyst.diagnosis import Judgement, diagnose
from loganalyst.model import Diagnosis, Features, FeatureValue, Run
from loganalyst.report.diagnosis import asjson, markdown, terminal

CATALOGUE = pipeline.catalogue()
ROWS = [test.features for rule in CATALOGUE.rules.values() for test in rule.tests if test.features]
# whose leading rule has no experiment: its fix names what is not known here
WITHOUT_EXPERIMENT: dict[str, FeatureValue] = {
    "run_kind": "training", "collective_stuck_count": 1, "collective_waited_s": 600.0, "collective_sequence": 6,
    "collective_operation": "all_reduce", "collective_group": "default_pg", "collective_mismatch_count": 0,
    "kl_metric": "kl", "kl_max": 100000.0, "kl_max_ratio": 5000.0, "train_loss_divergence_count": 1,
}  # fmt: skip
# whose symptom has no rule that applies
WITHOUT_A_RULE: dict[str, FeatureValue] = {
    "run_kind": "training", "train_loss_metric": "loss", "train_loss_jump_points": 1, "train_loss_jump_ratio": 3.0,
    "train_loss_jump_step": 185, "train_loss_jump_undone_share": 0.4, "val_loss_metric": "val_loss",
    "val_loss_rise_ratio": 1.0, "train_loss_level_up_count": 1, "train_loss_rise_ratio": 1.6, "train_loss_rise_z": 6.0,
}  # fmt: skip
KINDS = ("training", "evaluation", "reinforcement", "adversarial", "job", None)
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def rows(draw: st.DrawFn) -> dict[str, FeatureValue]:
    """Up to three tests' features in one row, some of them lost, in a run of any kind."""
    chosen = draw(st.lists(st.sampled_from(ROWS), min_size=1, max_size=3))
    whole: dict[str, FeatureValue] = {"run_kind": draw(st.sampled_from(KINDS))}
    for row in chosen:
        whole |= row
    lost = draw(st.sets(st.sampled_from(sorted(whole)), max_size=len(whole) // 3))
    return {name: value for name, value in whole.items() if name not in lost}


def judged(row: dict[str, FeatureValue]) -> Judgement:
    return diagnose(CATALOGUE, Features(row))


def reported(found: Judgement, row: dict[str, FeatureValue]) -> Diagnosis:
    """The judgement of a run of which nothing else is known."""
    return Diagnosis(
        run=Run(),
        status=found.status,
        confidence=found.confidence,
        symptoms=found.symptoms,
        causes=found.causes,
        ruled_out=found.ruled_out,
        unknown=found.unknown,
        features=Features(row),
        decide=found.decide,
    )


@given(rows())
@EXAMPLES
def test_above_ninety_percent_there_is_direct_evidence(row: dict[str, FeatureValue]) -> None:
    """A cause of band high has a direct item that holds and supports it."""
    for cause in judged(row).causes:
        direct = [e for e in cause.evidence if e.kind == "direct" and e.holds]
        assert cause.confidence <= 0.9 or direct
        assert (cause.band == "high") == (cause.confidence > 0.9)
        assert (cause.band == "low") == (cause.confidence < 0.7)


@given(rows())
@example(WITHOUT_EXPERIMENT)
@example(WITHOUT_A_RULE)
@EXAMPLES
def test_below_seventy_percent_a_decider_is_named(row: dict[str, FeatureValue]) -> None:
    """In the answer, in the cause, and in all three reports."""
    found = judged(row)
    d = reported(found, row)
    for cause in found.causes:
        assert bool(cause.decide) == (cause.band == "low")
    if found.status == "cause_unknown":
        assert found.decide
    if found.status == "diagnosis_complete" and found.causes[0].band == "low":
        assert "Decide" in terminal.render(d)
        assert "What would decide" in markdown.render(d)
        assert asjson.data(d)["root_causes"][0]["decide"]


@given(rows())
@EXAMPLES
def test_ruled_out_rules_have_reasons_and_consequences_a_cause(row: dict[str, FeatureValue]) -> None:
    """Every rule is a cause, a consequence of one, ruled out with a reason, or not known with what is missing."""
    found = judged(row)
    titles = [c.issue for c in found.causes]
    below = [title for c in found.causes for title in c.consequences]

    assert all(r.why.strip() for r in (*found.ruled_out, *found.unknown))
    assert len(set(titles)) == len(titles) <= 5
    assert not set(titles) & set(below)
    ranks = [(not c.ended_run, c.verdict != "likely" or c.family == "speed", -c.confidence) for c in found.causes]
    assert ranks == sorted(ranks)
    assert {c.id for c in found.causes}.isdisjoint(r.id for r in (*found.ruled_out, *found.unknown))


@given(rows())
@EXAMPLES
def test_every_answer_is_a_probability_and_a_healthy_run_has_no_cause(row: dict[str, FeatureValue]) -> None:
    """Healthy has a confidence too; without a symptom there is no cause, and without data no answer."""
    found = judged(row)

    assert 0 <= found.confidence <= 1
    assert (found.status in ("healthy", "insufficient_data")) == (not found.symptoms)
    if found.status == "healthy":
        assert found.causes == ()
        assert found.confidence > 0
    if found.status == "insufficient_data":
        assert found.confidence == 0


@given(rows(), st.lists(st.sampled_from(sorted(CATALOGUE.symptoms)), max_size=3))
@EXAMPLES
def test_reported_symptoms_change_odds_and_no_observed_symptom(row: dict[str, FeatureValue], told: list[str]) -> None:
    """The symptoms stay those of the logs, healthy stays healthy, and the bands keep to their rule."""
    plain, steered = judged(row), diagnose(CATALOGUE, Features(row), told)

    assert [t.verdict for t in steered.told] == [_verdict(plain, steered, id_) for id_ in told]
    assert {s.id for s in steered.symptoms} <= _shown(plain, steered)
    for cause in steered.causes:
        assert cause.confidence <= 0.9 or any(e.kind == "direct" and e.holds for e in cause.evidence)


def _shown(plain: Judgement, steered: Judgement) -> set[str]:
    """Symptoms that either answer shows: a harmless one is left out, but a report may settle that it is not."""
    confirmed = {id_ for t in steered.told if t.seen for id_ in t.symptoms}
    return {s.id for s in plain.symptoms} | {s for c in steered.causes for s in c.symptoms} | confirmed


def _verdict(plain: Judgement, steered: Judgement, id_: str) -> Any:
    """The expected answer to a symptom that is reported by its id."""
    told = next(t for t in steered.told if t.text == id_)
    expected = {True: "confirmed", False: "contradicted", None: "not_visible"}[told.seen]
    return expected if id_ not in {s.id for s in plain.symptoms} else "confirmed"


def test_without_data_there_is_no_answer() -> None:
    """An empty row is no healthy run."""
    found = judged({})

    assert (found.status, found.confidence, found.causes, found.symptoms) == ("insufficient_data", 0.0, (), ())
