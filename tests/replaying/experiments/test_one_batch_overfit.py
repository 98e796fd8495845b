"""Batches that can be fitted, and those that cannot."""

import copy
import math

import pytest
import torch
from torch import nn

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import one_batch_overfit
from tests.replaying import entries
from tests.replaying.networks import chain, made, with_


def at_rest(model):
    """Dead: a rectifier that passes nothing, so that no gradient comes back."""
    model[2].bias.fill_(-1e3)


def constant_output(model, batch):
    """The model's output is lost on the way to the loss."""
    return ((0 * model(batch[0]) + 1 - batch[1]) ** 2).mean()


@pytest.mark.parametrize(
    ("spec", "outcome", "tries"),
    [
        (lambda: made(chain(nn.Tanh, 1), rate=0.2), "learned", 1),
        (lambda: made(chain(nn.Tanh, 1), rate=0.05), INCONCLUSIVE, 1),
        (lambda: made(chain(nn.Tanh, 1), rate=0.002), "higher_rate", 3),
        (lambda: made(chain(nn.Tanh, 1), rate=0.0), "another_optimiser", 4),
        (lambda: made(with_(chain(nn.ReLU), at_rest)), "afresh", 5),
        (lambda: made(chain(nn.Tanh, 1), constant_output), "not_learned", 5),
    ],
)
def test_one_batch_overfit(measure, spec, outcome, tries):
    found = measure(one_batch_overfit, spec(), rate=1e-2, steps=120)

    assert found.outcome == outcome
    assert len(found.series) == tries


def test_a_loss_at_its_floor_is_no_fault(measure):
    """New weights begin higher and fall further, but not below those of the checkpoint."""

    def floor(model, batch):
        return 0.5 + entries.mse(model, batch)

    spec = made(chain(nn.Tanh, 1), floor, batches=[entries.data()(0)], rate=0.2)

    assert measure(one_batch_overfit, spec, start=150, rate=1e-2, steps=60).outcome == INCONCLUSIVE


@pytest.mark.parametrize("value", [0.0, math.nan])
def test_a_batch_without_a_loss_decides_nothing(measure, value):
    def loss(model, batch):
        return model(batch[0]).sum() * value

    assert measure(one_batch_overfit, made(chain(nn.Tanh, 1), loss), steps=3).outcome == INCONCLUSIVE


def test_learning_one_batch_leaves_the_checkpoint_as_it_was(bench, limits):
    there = bench(made(chain(nn.Tanh, 1)), limits=limits("one_batch_overfit"))
    before = copy.deepcopy(there.model.state_dict())

    one_batch_overfit.run(there, 0)
    there.restore(0)

    assert all(torch.equal(before[name], now) for name, now in there.model.state_dict().items())
