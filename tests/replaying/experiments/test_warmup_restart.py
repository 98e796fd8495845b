"""A reset optimiser with a warm-up, and a reset that causes the fault."""

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import warmup_restart
from tests.replaying import entries


def wide(rate, *, rows=64):
    """A wide network under Adam, whose first steps are as long as the rate in every direction at once."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(8, 256), torch.nn.Tanh(), torch.nn.Linear(256, 256), torch.nn.Tanh()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 1))
    x = torch.randn(entries.STEPS, rows, 8, generator=torch.Generator().manual_seed(1))
    y = x.sum(-1, keepdim=True).sin()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    return ReplaySpec(model, optimizer, entries.mse, lambda i: (x[i % entries.STEPS], y[i % entries.STEPS]))


def test_a_warm_up_takes_the_throw_of_the_first_steps_away(run):
    found = run(warmup_restart, wide(0.01), start=0)

    assert (found.outcome, found.reproduced) == ("vanished", True)
    assert found.values["step"] < 5


@pytest.mark.parametrize("made", [entries.rate_too_high, entries.bad_batch])
def test_a_fault_that_comes_again_at_the_full_rate_stays_after_a_warm_up(run, made):
    assert run(warmup_restart, made()).outcome == "stayed"


def test_a_loss_that_jumps_after_a_reset(run):
    found = run(warmup_restart, wide(0.01), start=60, steps=20)

    assert (found.outcome, found.reproduced) == ("brought", True)
    assert found.values["step"] < 65


def test_a_reset_that_does_no_harm(run):
    made = entries.healthy()
    momentum = torch.optim.SGD(made.model.parameters(), lr=0.01, momentum=0.5)

    assert run(warmup_restart, ReplaySpec(made.model, momentum, made.loss, made.batches)).outcome == "harmless"


def test_an_optimiser_without_state_is_inconclusive(run):
    assert run(warmup_restart, entries.healthy()).outcome == INCONCLUSIVE
