"""An unsure answer names the measurement or experiment that would settle it."""

import pytest

from loganalyst import features, rulefiles
from loganalyst.diagnosis import confidence, decidingevidence, diagnose
from loganalyst.diagnosis.catalogue import Catalogue, load
from loganalyst.diagnosis.evidence import Answers, answer, feature_table
from loganalyst.diagnosis.judged import Judged
from loganalyst.model import Decider, Features, FeatureValue

NAN = {"train_loss_nonfinite_count": 1, "train_loss_points": 100}


def judged(catalogue: Catalogue, row: dict[str, FeatureValue]) -> tuple[dict[str, Judged], Answers]:
    [answers] = answer(catalogue, feature_table(catalogue, [row]), [{}])
    return confidence.judge(catalogue, answers), answers


def test_missing_names_what_to_log(catalogue: Catalogue) -> None:
    """The needs of unknown features in open questions, the weightiest first; answered questions need nothing."""
    every, nothing = judged(catalogue, {})
    later, decided = judged(catalogue, {"train_loss_divergence_count": 0, "lr_peak": 0.1})

    assert decidingevidence.missing(every["lr-too-high"], nothing, catalogue.declared) == ("train", "lr", "config")
    assert decidingevidence.missing(later["lr-too-high"], decided, catalogue.declared) == ("config",)


def test_the_measurement_that_moves_rivals_most_comes_first(catalogue: Catalogue) -> None:
    """Both rivals for a NaN ask the config. The rate moves only one, and nothing supports an experiment."""
    every, answers = judged(catalogue, NAN)
    [found] = decidingevidence.unnamed(every, answers, catalogue)

    assert (found.kind, found.what) == ("log", "config")
    assert set(found.separates) == {"Learning rate too high", "Overflow in half precision"}


def test_a_supported_cause_is_worth_an_experiment(catalogue: Catalogue) -> None:
    """After the measurement for both."""
    every, answers = judged(catalogue, {**NAN, "lr_peak": 0.1})
    found = decidingevidence.unnamed(every, answers, catalogue)

    assert [(d.kind, d.what) for d in found] == [("log", "config"), ("experiment", "divide the peak rate by 3")]


def test_a_consequence_is_no_rival(catalogue: Catalogue) -> None:
    """A consequence may be true as well, so distinguishing it from its cause decides nothing."""
    every, answers = judged(catalogue, NAN)
    found = decidingevidence.between(every["lr-too-high"], every, answers, catalogue)

    assert [(d.what, d.separates) for d in found] == [
        ("lr", ("Learning rate too high",)),
        ("config", ("Learning rate too high",)),
        ("divide the peak rate by 3", ("Learning rate too high",)),
    ]


def test_without_an_open_question_the_experiment_is_left(catalogue: Catalogue) -> None:
    """If everything is logged, only the change itself can decide."""
    row = {
        **NAN, "train_loss_divergence_count": 0, "lr_at_divergence_share": 0.1, "lr_peak": 0.03, "lr_suggested": 0.01,
        "config_clip": 0.0, "config_precision": "fp32",
    }  # fmt: skip
    every, answers = judged(catalogue, row)
    found = decidingevidence.between(every["lr-too-high"], every, answers, catalogue)

    assert found == (Decider("experiment", "optimizer.lr 0.03 → 0.01", ("Learning rate too high",), "look again"),)


def test_a_symptom_without_a_possible_cause_names_what_decides(catalogue: Catalogue) -> None:
    """`cause_unknown` is no dead end."""
    found = diagnose(catalogue, Features({**NAN, "run_kind": "training", "train_loss_divergence_count": 0}))

    assert found.status == "cause_unknown"
    assert [d.kind for d in found.decide] == ["log", "experiment"]  # a cause that is ruled out asks for nothing


def test_an_unsure_healthy_names_what_to_log(catalogue: Catalogue) -> None:
    """A symptom that matters for the kind of run, and whose features are not known."""
    _, answers = judged(catalogue, {"run_kind": "training", "train_loss_divergence_count": 0})

    assert decidingevidence.healthy(answers, catalogue) == ()  # the training loss is logged: more of it does not help

    _, answers = judged(catalogue, {"run_kind": "training"})

    assert decidingevidence.healthy(answers, catalogue) == (
        Decider("log", "train", ("Loss left its trend", "Loss is NaN")),
    )


@pytest.mark.parametrize("answered", [True, False])
def test_only_an_unsure_answer_names_what_decides(answered: bool) -> None:
    """Above 0.70 nothing has to be decided; below it something is always named."""
    row: dict[str, FeatureValue] = {
        "run_kind": "training", "train_loss_points": 1000, "train_loss_metric": "loss", "train_loss_rise_ratio": 4.0,
        "train_loss_rise_z": 20.0, "train_loss_divergence_count": 1, "train_loss_divergence_step": 500,
    }  # fmt: skip
    sure = {"lr_at_divergence_share": 1.0, "grad_norm_divergence_count": 1, "grad_first_steps": 40, "lr_peak": 0.1,
            "grad_first_confidence": 0.99, "grad_norm_divergence_step": 460, "lr_suggested": 0.03}  # fmt: skip
    catalogue = load(features.declared(), (rulefiles.rules_dir(),), fitted=answered)
    found = diagnose(catalogue, Features({**row, **(sure if answered else {})}))

    assert bool(found.decide) is (found.confidence < 0.7 or found.status == "cause_unknown") is not answered
    for cause in found.causes:
        assert bool(cause.decide) is (cause.band == "low")


def test_a_harmless_explanation_for_another_kind_of_run_decides_nothing() -> None:
    """A classifier whose held-out loss lies below is not asked to log a metric of preference training."""
    catalogue = load(features.declared(), [rulefiles.rules_dir()])
    row: dict[str, FeatureValue] = {
        "val_loss_is_sum": False,
        "val_below_train_share": 1.0,
        "train_val_gap": -0.21,
        "train_loss_drop_relative": 0.09,
        "val_loss_drop_relative": 0.2,
    }
    row |= {
        "train_loss_points": 10,
        "score_improved": False,
        "train_loss_divergence_count": 0,
        "train_loss_level_up_count": 0,
    }
    every, answers = judged(catalogue, row)
    excuse = every["preference-raters-differ"]
    found = decidingevidence.between(every["label-noise"], every, answers, catalogue)

    assert answers.applies[excuse.rule.id] is None
    assert set(excuse.seen) & set(every["label-noise"].seen)
    assert excuse.rule.title not in {title for d in found for title in d.separates}
