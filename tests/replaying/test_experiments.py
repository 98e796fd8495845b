"""Each experiment on a fault whose cause is known, in this process: a bench takes milliseconds."""

import math

import pytest
import torch

from loganalyst.pipeline import catalogue
from loganalyst.replaying import forensics
from loganalyst.replaying.experiment import INCONCLUSIVE, names
from tests.replaying import entries


def test_every_file_is_stated_in_the_rules_and_every_statement_has_a_file():
    assert {*names(), forensics.NAME} == set(catalogue().experiments)


def test_weights_are_of_rules_and_labels_that_exist():
    known = {name for rule in catalogue().rules.values() for name in (rule.id, rule.label)}
    stated = [w for e in catalogue().experiments.values() for o in e.outcomes.values() for w in o.weights]

    assert set(stated) - known == set()


@pytest.mark.parametrize(
    ("name", "made", "outcome"),
    [
        ("lr_counterfactual", entries.rate_too_high, "vanished"),
        ("lr_counterfactual", entries.bad_batch, "stayed"),
        ("lr_counterfactual", entries.healthy, INCONCLUSIVE),
        ("clipping_counterfactual", entries.bad_batch, "stayed"),
        ("clipping_counterfactual", entries.healthy, INCONCLUSIVE),
        ("first_nonfinite", entries.bad_batch, "input"),
        ("first_nonfinite", entries.rate_too_high, "ran_up"),
        ("first_nonfinite", entries.healthy, INCONCLUSIVE),
    ],
)
def test_an_experiment_decides_as_stated(run, name, made, outcome):
    assert run(name, made()).outcome == outcome


def test_clipping_takes_a_single_huge_gradient_away(run):
    """One batch has a huge gradient and no higher loss: the step it makes throws the weights, unless it is clipped."""
    batches = entries.data()

    def loss(model, batch):
        steep = 1000.0 * torch.equal(batch[0], batches(60)[0]) * model[2].weight.sum()
        return entries.mse(model, batch) + steep - steep.detach()

    found = run("clipping_counterfactual", entries.spec(0.05, batches, loss))

    assert found.outcome == "vanished"
    assert found.reproduced is True


def test_the_step_module_and_operation_of_a_nan_are_named(run):
    def loss(model, batch):
        share = batch[0].mean() * 0 if torch.equal(batch[0], entries.data()(57)[0]) else batch[0].abs().mean()
        return {"fit": entries.mse(model, batch), "prior": 0.01 * torch.log(share).abs()}

    found = run("first_nonfinite", entries.spec(0.05, entries.data(), loss))

    assert found.outcome == "division"
    assert found.values["step"] == 57
    assert (found.values["module"], found.values["operation"]) == ("loss", "log")
    assert "log in the loss gave Inf" in found.text


def test_a_nan_on_the_way_back_is_told_from_one_in_the_loss(run):
    made = entries.spec(0.05, entries.data(), lambda m, b: entries.mse(m, b) + torch.sqrt(m(b[0]) * 0).sum())

    found = run("first_nonfinite", made, start=0)

    assert found.outcome == "backward"
    assert found.values["gradient"] == "0.weight"


def test_what_overflows_in_half_precision_alone_is_told(run):
    made = entries.spec(
        0.0, entries.data(), lambda m, b: ((m(b[0]) * 1e4) @ (m(b[0]) * 1e4).T).mean(), precision="float16"
    )

    assert run("first_nonfinite", made, start=0).outcome == "half_precision"


def test_a_checkpoint_that_is_not_finite_is_told(run):
    made = entries.healthy()
    with torch.no_grad():
        made.model[0].weight[0, 0] = math.nan

    found = run("first_nonfinite", made, start=0)

    assert (found.outcome, found.values["tensor"]) == ("weights", "0.weight")
