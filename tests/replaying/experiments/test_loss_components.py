"""Components that drown, oppose or do not train."""

import pytest
import torch
from torch import nn

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import loss_components
from tests.replaying import entries
from tests.replaying.networks import chain, made


def parts(**factors):
    """A loss of two components that share the gradient about equally, each times its factor."""

    def loss(model, batch):
        out = model(batch[0])
        a, b = ((out - batch[1]) ** 2).mean(), ((out - batch[1] - 0.1) ** 2).mean()
        return {"near": factors.get("near", 1.0) * a, "far": factors.get("far", 1.0) * b}

    return loss


@pytest.mark.parametrize(
    ("loss", "more", "outcome"),
    [
        (parts(), {}, "balanced"),
        (parts(far=1e-3), {}, "drowned"),
        (parts(), {"weights": {"far": 1e-3}}, "drowned"),
        (lambda m, b: {**parts()(m, b), "fixed": torch.tensor(2.0)}, {}, "cut_off"),
        (lambda m, b: {"a": entries.mse(m, b), "b": -0.7 * m(b[0]).square().mean()}, {}, "opposed"),
        (lambda m, b: {"loss": sum((t := parts()(m, b)).values()), **t, "accuracy": torch.tensor(0.5)}, {}, "balanced"),
        (lambda m, b: {"loss": entries.mse(m, b), **parts()(m, b)}, {}, INCONCLUSIVE),
        (entries.mse, {}, INCONCLUSIVE),
    ],
)
def test_loss_components(measure, loss, more, outcome):
    assert measure(loss_components, made(chain(nn.Tanh, 1), loss, **more)).outcome == outcome


def test_the_share_of_the_gradient_is_that_of_the_weights(measure):
    def twice(model, batch):
        return {"near": entries.mse(model, batch), "far": entries.mse(model, batch)}

    found = measure(loss_components, made(chain(nn.Tanh, 1), twice, weights={"far": 0.25}))

    assert found.values["far, gradient_share"] == pytest.approx(0.2)
    assert found.values["far, share"] == pytest.approx(0.2)
