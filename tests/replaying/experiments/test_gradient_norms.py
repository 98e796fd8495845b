"""Gradients that vanish, starve, explode or never arrive."""

import pytest
import torch
from torch import nn

from loganalyst.replaying.experiments import gradient_norms
from tests.replaying import entries
from tests.replaying.networks import chain, dies, made, with_


class Detached(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = chain(nn.Tanh), nn.Linear(1, 1)

    def forward(self, x):
        return self.head(self.body(x).detach())


class TwoPaths(nn.Module):
    """A narrow path whose input is scaled to almost nothing, and an ordinary one."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow, self.head = nn.Linear(8, 4), nn.Linear(8, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.wide(x)) + 1e-8 * torch.tanh(self.narrow(x)))


@pytest.mark.parametrize(
    ("spec", "outcome", "words"),
    [
        (lambda: made(chain(nn.Tanh)), "ordinary", "layers lie within a factor of"),
        (lambda: made(chain(nn.Sigmoid, 10)), "vanishing", "that of 22; from layer to layer it grows evenly"),
        (lambda: made(TwoPaths()), "starved", "the gradient of narrow is"),
        (lambda: made(Detached()), "still", "no gradient reaches them: body.0.weight, body.0.bias, body.2.weight and"),
        (lambda: made(m := chain(nn.Tanh), trained=m[-1].parameters()), "still", "the optimiser does not have them"),
        (lambda: made(chain(nn.Tanh), rate=1e-12), "still", "their updates are lost in rounding"),
        (lambda: made(chain(nn.Tanh), rate=0.0), "no_rate", "their rate is 0"),
        (lambda: made(with_(chain(nn.ReLU), dies)), "zero", "is exactly 0 (0.bias, 0.weight, 2.bias and"),
    ],
)
def test_gradient_norms(measure, spec, outcome, words):
    found = measure(gradient_norms, spec())

    assert found.outcome == outcome
    assert words in found.text
    assert found.reproduced is (outcome != "ordinary")


def test_underflow_in_half_precision_is_distinguished_from_zeros(measure):
    def tiny(model, batch):
        return 1e-9 * entries.mse(model, batch)

    lost = measure(gradient_norms, made(chain(nn.Tanh), tiny, rate=1e6, precision="float16"))
    scaled = torch.amp.GradScaler("cpu", init_scale=2.0**28)
    kept = measure(gradient_norms, made(chain(nn.Tanh), tiny, rate=1e6, precision="float16", scaler=scaled), nothing=0)

    assert lost.outcome == "underflow"
    assert kept.outcome == "ordinary"


def test_a_growing_gradient_is_distinguished_from_a_rising_loss(measure):
    def harder(step):
        x, y = entries.data()(step)
        return x, y * (3 if step >= 5 else 1)

    grows = measure(gradient_norms, entries.rate_too_high(), start=50, length=20)
    rises = measure(gradient_norms, made(chain(nn.Tanh), batches=harder))

    assert (grows.outcome, grows.reproduced) == ("exploding", True)
    assert (rises.outcome, rises.reproduced) == ("calm", True)
