"""The origin of the first NaN or Inf."""

import math

import pytest
import torch

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import first_nonfinite
from tests.replaying import entries


@pytest.mark.parametrize(
    ("made", "outcome"),
    [(entries.bad_batch, "input"), (entries.rate_too_high, "ran_up"), (entries.healthy, INCONCLUSIVE)],
)
def test_the_outcome_on_known_faults(run, made, outcome):
    assert run(first_nonfinite, made()).outcome == outcome


def test_the_step_module_and_operation_of_a_nan_are_named(run):
    def loss(model, batch):
        share = batch[0].mean() * 0 if torch.equal(batch[0], entries.data()(57)[0]) else batch[0].abs().mean()
        return {"fit": entries.mse(model, batch), "prior": 0.01 * torch.log(share).abs()}

    found = run(first_nonfinite, entries.spec(0.05, entries.data(), loss))

    assert found.outcome == "division"
    assert found.values["step"] == 57
    assert (found.values["module"], found.values["operation"]) == ("loss", "log")
    assert "log in the loss gave Inf" in found.text


def test_a_nan_of_the_backward_pass_is_distinguished_from_one_in_the_loss(run):
    made = entries.spec(0.05, entries.data(), lambda m, b: entries.mse(m, b) + torch.sqrt(m(b[0]) * 0).sum())

    found = run(first_nonfinite, made, start=0)

    assert found.outcome == "backward"
    assert found.values["gradient"] == "0.weight"


def test_an_overflow_only_in_half_precision_is_found(run):
    made = entries.spec(
        0.0, entries.data(), lambda m, b: ((m(b[0]) * 1e4) @ (m(b[0]) * 1e4).T).mean(), precision="float16"
    )

    assert run(first_nonfinite, made, start=0).outcome == "half_precision"


def test_a_nonfinite_checkpoint_is_found(run):
    made = entries.healthy()
    with torch.no_grad():
        made.model[0].weight[0, 0] = math.nan

    found = run(first_nonfinite, made, start=0)

    assert (found.outcome, found.values["tensor"]) == ("weights", "0.weight")
