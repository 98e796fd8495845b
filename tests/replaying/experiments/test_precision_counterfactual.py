"""Faults that vanish in float32, and others that stay."""

import torch

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import precision_counterfactual
from tests.replaying import entries


def test_an_overflow_of_half_precision_vanishes_in_float32(run):
    """From batch 60 on a product of outputs is beyond 65,504, the largest number of float16."""
    batches = entries.data()
    late = {float(batches(i)[0][0, 0]) for i in range(60, entries.STEPS)}

    def loss(model, batch):
        out = model(batch[0]) * (4000.0 if float(batch[0][0, 0]) in late else 1.0)
        return (out @ out.T).mean() * 1e-9 + entries.mse(model, batch)

    found = run(precision_counterfactual, entries.spec(0.01, entries.data(), loss, precision="float16"))

    assert (found.outcome, found.reproduced) == ("vanished", True)
    assert found.values["lost"] < 0.1


def test_a_rate_too_high_stays_in_float32(run):
    made = entries.spec(0.05, entries.data(), raised=(60, 80.0), precision="float16")

    assert run(precision_counterfactual, made).outcome == "stayed"


def test_gradients_below_half_precision_are_counted(run):
    made = entries.spec(0.05, entries.data(), lambda m, b: entries.mse(m, b) * 1e-9, precision="float16")

    found = run(precision_counterfactual, made)

    assert found.outcome == "underflow"
    assert found.values["lost"] > 0.9


def test_a_loss_scale_keeps_them(run):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    made = entries.spec(0.05, entries.data(), lambda m, b: entries.mse(m, b) * 1e-4, precision="float16", scaler=scaler)

    found = run(precision_counterfactual, made)

    assert found.outcome == INCONCLUSIVE
    assert found.values["lost"] == 0.0


def test_a_training_in_float32_cannot_have_a_fault_of_half_precision(run):
    assert run(precision_counterfactual, entries.rate_too_high()).outcome == "single"
