"""Gradient noise and curvature, where they are known exactly, and what they say of real networks."""

import math

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying import curvature
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import sharpness
from tests.replaying import entries

# --- noise_scale


def noisy(noise, *, size=8, **more):
    """Gradients of 1 along the first of 50 axes, and noise of a variance of `noise` in all samples together."""
    weight = torch.nn.Parameter(torch.zeros(50))
    numbers = torch.Generator().manual_seed(0)
    samples = torch.randn(200, size, 50, generator=numbers) * math.sqrt(noise / 50) + torch.eye(50)[0]
    model = torch.nn.ParameterDict({"w": weight})
    return ReplaySpec(
        model, torch.optim.SGD([weight], lr=0.0), lambda m, b: (b @ m["w"]).mean(), lambda i: samples[i % 200], **more
    )


@pytest.mark.parametrize(("noise", "outcome"), [(120.0, "noise"), (16.0, "balanced"), (0.4, "signal"), (0.0, "signal")])
def test_the_noise_scale_of_known_noise(run, noise, outcome):
    """Against 8 samples a step it is an eighth of the noise's variance, for the signal's square is 1."""
    found = run("noise_scale", noisy(noise), start=0)

    assert found.outcome == outcome
    assert found.values["ratio"] == pytest.approx(noise / 8, rel=0.4, abs=1e-5)
    assert found.values["samples"] == 8


def test_accumulated_batches_are_one_step(run):
    found = run("noise_scale", noisy(16.0, accumulate=4), start=0)

    assert found.values["ratio"] == pytest.approx(16 / 32, rel=0.25)
    assert "the 32 samples of a step" in found.text


def test_gradients_without_a_direction_in_common_are_all_noise(run):
    """Two batches in turns, of gradients that point away from each other."""
    weight = torch.nn.Parameter(torch.ones(1))
    made = ReplaySpec(
        torch.nn.ParameterDict({"w": weight}), torch.optim.SGD([weight], lr=0.1), lambda m, b: b * m["w"], [1.0, -1.0]
    )

    found = run("noise_scale", made, start=0)

    assert (found.outcome, found.values["ratio"]) == ("noise", math.inf)
    assert found.text == "the gradient-noise scale is more than 32 times the data of a step"


def test_gradients_that_are_not_finite_have_no_noise_scale(run):
    assert run("noise_scale", entries.bad_batch()).outcome == INCONCLUSIVE


# --- curvature


@pytest.mark.parametrize("eigenvalues", [(1.0, 2.0, 5.0), (-7.0, 2.0, 5.0), (-5.0, -1.0, -0.5), (0.0, 0.0, 0.0)])
def test_the_largest_eigenvalue_is_not_that_of_largest_size(eigenvalues):
    turned = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(1)))[0]
    matrix = turned @ torch.diag(torch.tensor(eigenvalues)) @ turned.T

    found = curvature.largest_eigenvalue(lambda v: [matrix @ v[0]], [torch.zeros(3)], 200, 1e-6)

    assert found == pytest.approx(max(eigenvalues), abs=1e-3)


def test_the_hessian_times_a_vector_is_that_of_the_whole_matrix():
    first, second = torch.randn(2, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    unused = torch.randn(2, requires_grad=True)

    def loss(a, b):
        return (a @ b).tanh().square().sum() + (a**3).sum()

    along = [torch.randn(2, 3), torch.randn(3), torch.randn(2)]
    found = curvature.hessian_product(
        [loss(first, second) / 2, loss(first, second) / 2], [first, second, unused], along
    )
    blocks = torch.autograd.functional.hessian(loss, (first, second))
    whole = torch.cat(
        [torch.cat([b.reshape(a.numel(), -1) for b in row], 1) for a, row in zip((first, second), blocks, strict=True)]
    )

    expected = whole @ torch.cat([along[0].flatten(), along[1]])
    torch.testing.assert_close(torch.cat([found[0].flatten(), found[1]]), expected)
    torch.testing.assert_close(found[2], torch.zeros(2))


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


# --- sharpness


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
    found = run("sharpness", bowl(lambda p: torch.optim.SGD(p, lr=0.01)))

    assert found.values["ratio"] == pytest.approx(4 * 0.01 / 2, rel=0.02)
    assert (found.outcome, found.reproduced) == (INCONCLUSIVE, False)


def test_a_rate_beyond_what_is_stable_is_told(run):
    found = run("sharpness", bowl(lambda p: torch.optim.SGD(p, lr=0.01), raised=200.0))

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

    found = run("sharpness", bowl(settled), start=0)

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
    assert run("sharpness", made).outcome == outcome


def test_adam_in_its_first_steps_is_not_judged(run):
    assert run("sharpness", bowl(lambda p: torch.optim.Adam(p, lr=0.1)), start=0, steps=5).outcome == INCONCLUSIVE


def test_attention_has_a_curvature(run):
    """The fused kernels of attention have no second derivative; it is done without them."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    made = ReplaySpec(layer, optimizer, lambda m, b: m(b).pow(3).mean(), [torch.randn(2, 4, 8)])

    assert run("sharpness", made, start=0, steps=3).values["ratio"] > 0
