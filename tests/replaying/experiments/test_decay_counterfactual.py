"""Weight decay that keeps the loss high."""

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import decay_counterfactual


def decayed(decay, value, rate=0.1):
    """A loss of -w, whose gradient is 1 everywhere: under weight decay w comes to rest where decay times w is 1."""
    weight = torch.nn.Parameter(torch.tensor(value))
    optimizer = torch.optim.SGD([weight], lr=rate, weight_decay=decay)
    return ReplaySpec(torch.nn.ParameterDict({"w": weight}), optimizer, lambda m, b: -m["w"], lambda i: i)


@pytest.mark.parametrize(
    ("decay", "value", "fall", "outcome"),
    [
        (0.1, 10.0, 0.1 * 224.5, "falls"),  # 0.1 a step, over the steps 150 to 299
        (1e-9, 10.0, 0.0, "stayed"),
    ],
)
def test_a_loss_that_falls_without_weight_decay(run, decay, value, fall, outcome):
    found = run(decay_counterfactual, decayed(decay, value), start=0)

    assert (found.outcome, len(found.series["unchanged"])) == (outcome, 300)
    assert found.values["fall"] == pytest.approx(fall, rel=1e-4, abs=1e-4)


def test_an_optimiser_without_weight_decay_is_inconclusive(run):
    assert run(decay_counterfactual, decayed(0.0, 10.0), start=0).text == "the optimiser has no weight decay"


def test_a_loss_that_is_not_finite_is_compared_with_nothing(run):
    assert run(decay_counterfactual, decayed(10.0, 1.0, rate=1e20), start=0).outcome == INCONCLUSIVE
