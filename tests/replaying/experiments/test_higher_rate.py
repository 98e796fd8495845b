"""Rates that are too low, schedules that decayed, and rates at their best."""

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import higher_rate
from tests.replaying import entries


def scheduled(rate, factor):
    made = entries.spec(rate, entries.data())
    schedule = torch.optim.lr_scheduler.LambdaLR(made.optimizer, factor)
    return ReplaySpec(made.model, made.optimizer, made.loss, made.batches, scheduler=schedule)


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (entries.spec(0.0001, entries.data()), "faster"),
        (scheduled(0.01, lambda i: min(1.0, (i + 1) / 1000)), "faster"),  # a warm-up is no schedule that ran out
        (scheduled(0.005, lambda i: max(1 - i / 20, 0.0)), "schedule"),
        (entries.spec(0.02, entries.data()), "no_faster"),
        (entries.spec(0.3, entries.data()), "unstable"),
        (entries.spec(0.0, entries.data()), INCONCLUSIVE),
        (entries.bad_batch(), INCONCLUSIVE),
    ],
    ids=["too-low", "warm-up", "ran-out", "at-its-best", "at-the-edge", "zero", "bad-batch"],
)
def test_a_higher_rate_decides(run, made, outcome):
    assert run(higher_rate, made).outcome == outcome


def test_a_fall_is_measured_against_weights_that_stand_still(run):
    """For a loss of -w, whose gradient is 1 everywhere: n steps at a rate of 0.1 lower it by 0.1 n."""
    weight = torch.nn.Parameter(torch.tensor(-100.0))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    made = ReplaySpec(torch.nn.ParameterDict({"w": weight}), optimizer, lambda m, b: -m["w"], lambda i: i)

    found = run(higher_rate, made, start=0, steps=61)

    falls = [found.values[f"fall {name}"] for name in ("unchanged", "rate x 3", "rate x 10")]
    assert falls == pytest.approx([4.5, 13.5, 45.0], rel=1e-4)  # after 45 steps, in the middle of 30 to 60
    assert found.outcome == "faster"
