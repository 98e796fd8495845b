"""The answers of the rules for labelled runs."""

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.evaluate.answers import answered
from tests.evaluate.evaluatedruns import NAN, runs

STUCK = {
    "run_kind": "training", "train_loss_points": 400, "train_loss_metric": "loss", "train_loss_drop_relative": 0.05,
    "train_loss_half_drop_relative": 0.03, "train_loss_tail_slope_z": -1.0, "train_loss_divergence_count": 0,
    "train_loss_noise_relative": 0.05, "train_loss_drop_error": 0.01, "part_fell": False, "train_loss_continued": False,
}  # fmt: skip


def test_a_rival_that_the_report_names_is_one_of_three(judged: Catalogue) -> None:
    """It is never the first answer, and is separate from the causes. Rivals without evidence are not named."""
    found = answered(judged, runs([(STUCK, ["vanishing_gradients"], "f")])).row(0, named=True)

    assert (found["status"], found["said"], found["first"]) == ("cause_unknown", ["cause_unknown"], False)
    assert found["rivals"] == ["vanishing_gradients"]
    assert (found["named"], found["three"]) == (False, True)


def test_a_status_or_the_id_of_a_rule_may_be_right(judged: Catalogue) -> None:
    """A fault without a named cause has the confidence that no rule names it; with too little data there is none."""
    rows = [(STUCK, ["cause_unknown"], "f"), ({}, ["insufficient_data"], "f"), (NAN, ["other", "nan-loss"], "f")]
    found = answered(judged, runs(rows))

    assert found["said"].list.first().to_list() == ["cause_unknown", "insufficient_data", "nan_loss"]
    assert found["first"].to_list() == [True, True, True]
    assert found["kind"].to_list()[:2] == ["unknown", "none"]
    assert found["confidence"].is_null().to_list() == found["stated"].is_null().to_list() == [False, True, False]
