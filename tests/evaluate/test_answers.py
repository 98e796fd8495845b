"""The answers of the rules for labelled runs."""

from loganalyst.diagnosis.catalogue import Catalogue
from loganalyst.evaluate.answers import answered
from tests.evaluate.evaluatedruns import runs


def test_a_rival_that_the_report_names_is_one_of_three(judged: Catalogue) -> None:
    """It is never the first answer, and is separate from the causes. Rivals without evidence are not named."""
    row = {"run_kind": "training", "train_loss_points": 400, "train_loss_metric": "loss"}
    row |= {"train_loss_drop_relative": 0.05, "train_loss_half_drop_relative": 0.03, "train_loss_tail_slope_z": -1.0}
    row |= {"train_loss_divergence_count": 0, "train_loss_noise_relative": 0.05, "train_loss_drop_error": 0.01}
    row |= {"part_fell": False}
    found = answered(judged, runs([(row, ["vanishing_gradients"], "f")])).row(0, named=True)

    assert (found["status"], found["said"], found["first"]) == ("cause_unknown", [], False)
    assert found["rivals"] == ["vanishing_gradients"]
    assert found["three"]
