"""The judgement of a run: its status, its ranked causes with their place, and the causes that were dropped."""

from dataclasses import replace

import pytest

from loganalyst.diagnosis import diagnose
from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.diagnosis.evidence import Answers
from loganalyst.diagnosis.judgement import band
from loganalyst.diagnosis.rule import Calibration
from loganalyst.diagnosis.texttemplate import Template
from loganalyst.model import Features, FeatureValue, Witness

DIVERGED: dict[str, FeatureValue] = {
    "train_loss_points": 100,
    "train_loss_metric": "train/loss",
    "train_loss_divergence_count": 1,
    "train_loss_divergence_step": 500,
    "train_loss_nonfinite_count": 1,
    "train_loss_nonfinite_step": 520,
    "train_loss_plateau_count": 0,
    "lr_at_divergence_share": 1.0,
    "lr_peak": 0.003,
    "lr_suggested": 0.001,
    "config_precision": "fp16",
}


def test_a_likely_cause_completes_the_diagnosis(catalogue: Catalogue) -> None:
    """The cause with its evidence, fix, place, symptoms and consequences; its confidence is that of the diagnosis."""
    found = diagnose(catalogue, Features(DIVERGED, {"train_loss_divergence_count": Witness("train/loss", 500, "e", 7)}))
    [cause] = found.causes

    assert found.status == "diagnosis_complete"
    assert found.confidence == cause.confidence == pytest.approx(0.826, abs=0.001)
    assert (cause.id, cause.label, cause.issue, cause.verdict, cause.band) == (
        "lr-too-high",
        "lr_too_high",
        "Learning rate too high",
        "likely",
        "medium",
    )
    assert cause.symptoms == ("divergence", "nan-loss")
    assert (cause.onset_step, cause.metric, cause.file, cause.line) == (500, "train/loss", "e", 7)
    assert cause.consequences == ("Overflow in half precision",)
    assert cause.missing == ()
    assert [e.holds for e in cause.evidence] == [True, None, False]
    assert cause.fix[0].change == "optimizer.lr 0.003 → 0.001"
    assert [s.id for s in found.symptoms] == ["divergence", "nan-loss"]
    assert (found.ruled_out, found.unknown) == ((), ())


def test_only_possible_causes_leave_the_cause_unknown(catalogue: Catalogue) -> None:
    """Possible causes are listed, but the status is cause_unknown, with the probability of another cause."""
    row = {"train_loss_nonfinite_count": 1, "config_precision": "fp16", "train_loss_points": 100, "lr_peak": 0.01}
    found = diagnose(catalogue, Features({**row, "config_clip": 0.0}))

    assert found.status == "cause_unknown"
    assert [(c.id, c.verdict, c.band) for c in found.causes] == [
        ("fp16-overflow", "possible", "low"),
        ("lr-too-high", "possible", "low"),
    ]
    assert found.causes[0].confidence == pytest.approx(0.451, abs=0.001)
    assert found.confidence == pytest.approx(0.460, abs=0.001)


def test_a_rival_with_the_evidence_against_it_is_ruled_out(catalogue: Catalogue) -> None:
    """With a stated reason. A cause whose symptoms were looked for and not seen is not supported instead."""
    row = {"train_loss_nonfinite_count": 1, "config_precision": "fp16", "train_loss_points": 100, "lr_peak": 0.001}
    silent = diagnose(catalogue, Features(row))
    good = diagnose(catalogue, Features({**row, "train_loss_nonfinite_count": 0, "train_loss_divergence_count": 0}))
    rules = dict(catalogue.rules)
    rate = rules["lr-too-high"]
    reason = Template("the rate is usual", (("the rate is usual", None, ""),))
    said = tuple(replace(item, says_if_false=reason) for item in rate.evidence)
    rules["lr-too-high"] = replace(rate, evidence=said)
    found = diagnose(replace(catalogue, rules=rules), Features(row))

    assert [(r.id, r.why) for r in found.ruled_out] == [("lr-too-high", "the rate is usual")]
    assert (found.alternatives, found.not_supported) == ((), ())
    assert (silent.ruled_out, [(r.id, r.why) for r in silent.not_supported]) == (
        (),
        [("lr-too-high", "the evidence is against it")],
    )
    assert [r.id for r in good.not_supported] == ["fp16-overflow", "lr-too-high"]
    assert (good.alternatives, good.ruled_out) == ((), ())


def test_a_missing_sign_rules_nothing_out(catalogue: Catalogue) -> None:
    """`rules_out: false`: the cause is not supported, for the same reason."""
    row = {"train_loss_nonfinite_count": 1, "config_precision": "fp16", "train_loss_points": 100, "lr_peak": 0.001}
    rules = dict(catalogue.rules)
    rate = rules["lr-too-high"]
    reason = Template("no sign of it", (("no sign of it", None, ""),))
    said = tuple(replace(item, says_if_false=reason, rules_out=False) for item in rate.evidence)
    rules["lr-too-high"] = replace(rate, evidence=said)
    found = diagnose(replace(catalogue, rules=rules), Features(row))

    assert found.ruled_out == ()
    assert [(r.id, r.why) for r in found.not_supported] == [("lr-too-high", "no sign of it")]


def test_weak_evidence_against_a_rival_rules_nothing_out(catalogue: Catalogue) -> None:
    """It is not supported, with the weak evidence as the reason."""
    row = {"train_loss_nonfinite_count": 1, "config_precision": "fp16", "train_loss_points": 100, "config_clip": 0.5}
    found = diagnose(catalogue, Features(row))

    assert found.ruled_out == ()
    assert [(r.id, r.why) for r in found.not_supported] == [("lr-too-high", "clipping at 0.5 is on")]


@pytest.mark.parametrize(("prior", "listed"), [(0.12, True), (0.03, False)])
def test_a_supported_rival_is_an_alternative_from_one_in_twenty_on(
    catalogue: Catalogue, prior: float, listed: bool
) -> None:
    """With the evidence for it; below, it is not supported enough, and nothing excludes it."""
    row = {"train_loss_nonfinite_count": 1, "config_precision": "fp16", "train_loss_points": 100, "lr_peak": 0.01}
    rules = {id_: replace(rule, explains=()) for id_, rule in catalogue.rules.items()}
    rules["lr-too-high"] = replace(rules["lr-too-high"], prior=prior)
    found = diagnose(replace(catalogue, rules=rules), Features(row))
    others = [(a.id, a.supported_by) for a in found.alternatives]

    assert others == ([("lr-too-high", ("a rate of 0.01 is large",))] if listed else [])
    assert found.ruled_out == ()
    assert [(r.id, r.why) for r in found.not_supported] == (
        [] if listed else [("lr-too-high", "another cause of the same symptom is likelier")]
    )
    assert [c.id for c in found.causes] == ["fp16-overflow"]


def test_healthy_is_at_least_likely(catalogue: Catalogue) -> None:
    """Even if the calibration says less. What was stated before stays, for the next calibration."""
    row: dict[str, FeatureValue] = {"run_kind": "training", "training_kind": "graph", "train_loss_nonfinite_count": 0}
    judged = diagnose(catalogue, Features(row))
    found = diagnose(replace(catalogue, scales={"healthy": Calibration(1.0, -9.0)}), Features(row))

    assert (found.status, found.confidence, found.causes) == ("healthy", 0.5, ())
    assert found.stated == judged.stated == pytest.approx(judged.confidence)


def test_symptom_without_any_cause(catalogue: Catalogue) -> None:
    """An observed symptom that no rule explains is reported."""
    found = diagnose(catalogue, Features({"train_loss_nonfinite_count": 1, "config_precision": "bf16"}))

    assert (found.status, found.causes) == ("cause_unknown", ())
    assert found.confidence > 0.9


def test_healthy(catalogue: Catalogue) -> None:
    """Without symptoms: healthy, the surer the more symptoms were looked for."""
    row: dict[str, FeatureValue] = {"run_kind": "training", "training_kind": "graph", "train_loss_divergence_count": 0}
    little, more = (diagnose(catalogue, Features(r)) for r in (row, {**row, "train_loss_nonfinite_count": 0}))

    assert (little.status, more.status) == ("healthy", "healthy")
    assert 0.5 < little.confidence < more.confidence < 1
    assert (more.symptoms, more.causes) == ((), ())


def test_nothing_to_judge(catalogue: Catalogue) -> None:
    """Where no symptom could be looked for there is not enough data, and every rule says what it needs."""
    found = diagnose(catalogue, Features({"lr_peak": 1.0}))

    assert (found.status, found.confidence, found.symptoms) == ("insufficient_data", 0.0, ())
    assert {r.id for r in found.unknown} == {"lr-too-high", "fp16-overflow"}


def test_answers_that_do_not_matter_for_this_kind_of_run(catalogue: Catalogue) -> None:
    """Healthy needs an answer that matters for this kind of run; where its kind is not known there is none."""
    answered: dict[str, FeatureValue] = {"train_loss_divergence_count": 0, "train_loss_nonfinite_count": 0}
    kinds = (None, "reinforcement", "training")
    found = [diagnose(catalogue, Features({**answered, "run_kind": kind})).status for kind in kinds]

    assert found == ["insufficient_data", "insufficient_data", "healthy"]


def test_a_harmless_explanation_makes_no_cause(catalogue: Catalogue) -> None:
    """A plateau by convergence is healthy; the same plateau without it is not."""
    fell = diagnose(catalogue, Features({"train_loss_plateau_count": 1, "train_loss_drop_relative": 0.95}))
    never = diagnose(catalogue, Features({"train_loss_plateau_count": 1, "train_loss_drop_relative": 0.05}))

    assert (fell.status, fell.symptoms, fell.causes) == ("healthy", (), ())
    assert fell.confidence < 0.9
    assert (never.status, [s.id for s in never.symptoms]) == ("cause_unknown", ["plateau"])
    assert "converged" not in {r.id for r in (*fell.ruled_out, *never.ruled_out, *never.unknown)}


def test_a_decider_is_never_logged_already(catalogue: Catalogue) -> None:
    """A guess names what to log; a loss that is logged but useless (all NaN) is not asked for."""
    row = {"train_loss_points": 100, "train_loss_nonfinite_count": 1, "lr_peak": 0.1, "config_clip": 0.0}
    [cause] = diagnose(catalogue, Features({**row, "config_precision": "bf16"})).causes
    answers = Answers({"train_loss_points": 100, "lr_peak": None}, {}, {}, {}, {})

    assert (cause.id, cause.band, cause.missing) == ("lr-too-high", "low", ())
    assert [e.text for e in cause.evidence if e.holds is None] == [""]
    assert answers.to_log(["lr_peak", "train_loss_divergence_count"], catalogue.declared) == ("lr",)


@pytest.mark.parametrize(("p", "expected"), [(0.91, "high"), (0.9, "medium"), (0.7, "medium"), (0.69, "low")])
def test_bands(p: float, expected: str) -> None:
    """High above 0.90, medium from 0.70."""
    assert band(p) == expected
