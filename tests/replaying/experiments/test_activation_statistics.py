"""Units that are dead, saturated or constant."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from loganalyst.replaying.experiments import activation_statistics
from tests.replaying import entries
from tests.replaying.networks import chain, dies, made, with_


class Functions(nn.Module):
    """Activations that are functions, after a convolution: units are its channels."""

    def __init__(self, bias):
        super().__init__()
        self.conv, self.head = nn.Conv1d(1, 4, 3), nn.Linear(24, 1)
        with_(self.conv, lambda conv: conv.bias.copy_(torch.tensor(bias)))

    def forward(self, x):
        return self.head(functional.relu(self.conv(x[:, None])).flatten(1))


@pytest.mark.parametrize(
    ("model", "outcome", "words"),
    [
        (lambda: chain(nn.ReLU), "alive", "after 10 steps at most"),
        (lambda: chain(nn.Tanh), "alive", "0% saturated"),
        (
            lambda: with_(chain(nn.ReLU), dies),
            "dead",
            "100% of the units of 3 (relu) never pass anything in 160 samples",
        ),
        (lambda: Functions([-99.0, -99.0, -99.0, 0.0]), "dead", "75% of the units of model (relu)"),
        (lambda: Functions([-99.0, -99.0, 0.0, 0.0]), "alive", "at most 50% of a layer's units are dead"),
        (lambda: with_(chain(nn.Tanh), lambda m: m[2].weight.mul_(1e3)), "saturated", "of the units of 3 (tanh) are"),
        (lambda: nn.Sequential(chain(nn.Tanh), nn.Sigmoid()), "alive", ""),
        (lambda: with_(chain(nn.GELU), lambda m: m[-1].weight.zero_()), "constant", "the same for every input"),
    ],
)
def test_activation_statistics(measure, model, outcome, words):
    found = measure(activation_statistics, made(model(), rate=0.0 if outcome == "constant" else 0.01))

    assert found.outcome == outcome
    assert words in found.text


def test_units_that_die_in_the_replayed_steps_are_seen(measure):
    """At the checkpoint they are alive; a rate far too high kills them."""

    def pushed(step):
        x, y = entries.data()(step)
        return (x, y) if step != 3 else (x, y - 1e4)

    found = measure(activation_statistics, made(chain(nn.ReLU), batches=pushed))

    assert found.outcome == "dead"
    assert found.text.startswith("after ")
