"""The stable limit of optimisers, and the curvature of known losses."""

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import sharpness
from tests.replaying import entries

OPTIMIZERS = {
    "sgd": lambda p, rate: torch.optim.SGD(p, lr=rate),
    "momentum": lambda p, rate: torch.optim.SGD(p, lr=rate, momentum=0.8),
    "dampened": lambda p, rate: torch.optim.SGD(p, lr=rate, momentum=0.8, dampening=0.5),
    "nesterov": lambda p, rate: torch.optim.SGD(p, lr=rate, momentum=0.8, nesterov=True),
    "adam": lambda p, rate: torch.optim.Adam(p, lr=rate, betas=(0.9, 1 - 1e-9)),
    "adamw": lambda p, rate: torch.optim.AdamW(p, lr=rate, betas=(0.8, 1 - 1e-9), weight_decay=0.0),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize(("factor", "diverges"), [(0.97, False), (1.03, True)])
def test_steps_are_stable_up_to_the_limit_and_no_further(name, factor, diverges):
    """On half of w^2, whose curvature is 1, from where Adam's second moments stand at 1 and hardly move."""
    weight = torch.nn.Parameter(torch.full((1,), 1e-3))
    optimizer = OPTIMIZERS[name]([weight], 1.0)
    optimizer.param_groups[0]["lr"] = factor * sharpness.stable_limit(optimizer)
    if "betas" in optimizer.param_groups[0]:
        moments = {"exp_avg": torch.zeros(1), "exp_avg_sq": torch.ones(1)}
        optimizer.state[weight] = {"step": torch.tensor(1e12), **moments}

    farthest = 0.0
    for _ in range(300):
        optimizer.zero_grad()
        (weight.square().sum() / 2).backward()
        optimizer.step()
        farthest = max(farthest, abs(weight.item()))

    assert (farthest > 0.1) == diverges


def bowl(optimizer, *, raised=1.0):
    """Half of the sum of k w_k^2 for k of 1 to 4: a largest curvature of 4. From step 60 on the rate is raised."""
    model = torch.nn.ParameterDict(
        {"w": torch.nn.Parameter(torch.ones(4)), "unused": torch.nn.Parameter(torch.ones(2))}
    )
    made = optimizer(model.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(made, lambda i: raised if i >= 60 else 1.0)

    def loss(m, i):
        return (torch.arange(1.0, 5.0) * m["w"].square()).sum() / 2 + 0.1

    return ReplaySpec(model, made, loss, lambda i: i, scheduler=schedule)


def test_the_curvature_of_a_bowl_is_known(run):
    found = run(sharpness, bowl(lambda p: torch.optim.SGD(p, lr=0.01)))

    assert found.values["ratio"] == pytest.approx(4 * 0.01 / 2, rel=0.02)
    assert (found.outcome, found.reproduced) == (INCONCLUSIVE, False)


def test_a_rate_beyond_the_stable_limit_is_found(run):
    found = run(sharpness, bowl(lambda p: torch.optim.SGD(p, lr=0.01), raised=200.0))

    assert found.values["ratio"] == pytest.approx(4 * 2.0 / 2, rel=0.02)
    assert (found.outcome, found.reproduced) == ("beyond", True)
    assert found.values["rate"] == 2.0


def test_adam_is_judged_by_the_preconditioned_curvature(run):
    """Its second moments stand at 0.01: the bowl is ten times as steep for it, and the limit at 38."""

    def settled(parameters):
        weights = list(parameters)
        made = torch.optim.Adam(weights, lr=0.001, betas=(0.9, 1 - 1e-9))
        for w in weights:
            moments = {"exp_avg": torch.zeros_like(w), "exp_avg_sq": torch.full_like(w, 0.01)}
            made.state[w] = {"step": torch.tensor(1e12), **moments}
        return made

    found = run(sharpness, bowl(settled), start=0)

    assert found.values["ratio"] == pytest.approx(40 * 0.001 / 38, rel=0.02)


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (entries.rate_too_high(), "beyond"),
        (entries.bad_batch(), "within"),
        (bowl(lambda p: torch.optim.Adagrad(p, lr=0.1)), INCONCLUSIVE),
    ],
    ids=["rate-too-high", "bad-batch", "no-limit-known"],
)
def test_sharpness_decides(run, made, outcome):
    assert run(sharpness, made).outcome == outcome


def test_adam_in_its_first_steps_is_not_judged(run):
    assert run(sharpness, bowl(lambda p: torch.optim.Adam(p, lr=0.1)), start=0, steps=5).outcome == INCONCLUSIVE


def test_attention_has_a_curvature(run):
    """The fused kernels of attention have no second derivative; it is done without them."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    made = ReplaySpec(layer, optimizer, lambda m, b: m(b).pow(3).mean(), [torch.randn(2, 4, 8)])

    assert run(sharpness, made, start=0, steps=3).values["ratio"] > 0
