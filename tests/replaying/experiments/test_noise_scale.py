"""The noise scale of gradients with known noise."""

import math

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import noise_scale
from tests.replaying import entries


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
    found = run(noise_scale, noisy(noise), start=0)

    assert found.outcome == outcome
    assert found.values["ratio"] == pytest.approx(noise / 8, rel=0.4, abs=1e-5)
    assert found.values["samples"] == 8


def test_accumulated_batches_are_one_step(run):
    found = run(noise_scale, noisy(16.0, accumulate=4), start=0)

    assert found.values["ratio"] == pytest.approx(16 / 32, rel=0.25)
    assert "the 32 samples of a step" in found.text


def test_gradients_without_a_direction_in_common_are_all_noise(run):
    """Two batches in turns, of gradients that point away from each other."""
    weight = torch.nn.Parameter(torch.ones(1))
    made = ReplaySpec(
        torch.nn.ParameterDict({"w": weight}), torch.optim.SGD([weight], lr=0.1), lambda m, b: b * m["w"], [1.0, -1.0]
    )

    found = run(noise_scale, made, start=0)

    assert (found.outcome, found.values["ratio"]) == ("noise", math.inf)
    assert found.text == "the gradient-noise scale is more than 32 times the data of a step"


def test_gradients_that_are_not_finite_have_no_noise_scale(run):
    assert run(noise_scale, entries.bad_batch()).outcome == INCONCLUSIVE
