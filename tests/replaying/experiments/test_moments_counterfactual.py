"""A stale second moment of Adam, and faults of other causes."""

import pytest
import torch

from loganalyst import ReplaySpec
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import moments_counterfactual
from tests.replaying import entries


def settled(*, beta2=0.999, pulled=100.0, raised=1.0, eps=1e-8):
    """Adam after 100,000 quiet steps; in batch 10 a gradient of `pulled`, and from there on `raised` times the rate."""
    weight = torch.nn.Parameter(torch.zeros(8))
    optimizer = torch.optim.Adam([weight], lr=0.004, betas=(0.9, beta2), eps=eps)
    moments = {"exp_avg": torch.zeros(8), "exp_avg_sq": torch.full((8,), 6e-5)}
    optimizer.state[weight] = {"step": torch.tensor(1e5), **moments}
    places = torch.randn(200, 8, generator=torch.Generator().manual_seed(1)) * 0.03

    def loss(model, i):
        pull = (pulled if i == 10 else 0.0) * model["weight"].sum()
        return 0.005 + (model["weight"] - places[i % 200]).square().mean() + pull - pull.detach()

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: raised if i >= 10 else 1.0)
    return ReplaySpec(torch.nn.ParameterDict({"weight": weight}), optimizer, loss, lambda i: i, scheduler=schedule)


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (settled(), "vanished"),
        (settled(pulled=0.0, raised=100.0), "stayed"),
        (settled(pulled=0.0), INCONCLUSIVE),
        (settled(beta2=0.95, eps=1e-6), INCONCLUSIVE),
        (entries.rate_too_high(), INCONCLUSIVE),
    ],
    ids=["stale", "rate-too-high", "healthy", "nothing-to-change", "no-adam"],
)
def test_a_faster_second_moment_decides(run, made, outcome):
    assert run(moments_counterfactual, made, start=0).outcome == outcome


def test_a_young_second_moment_stands_for_the_same_under_another_beta2(bench):
    """What Adam divides by is as before the change, though its correction of the bias is another."""

    def divisor():
        state, beta2 = made.optimizer.state[weight], made.optimizer.param_groups[0]["betas"][1]
        return (state["exp_avg_sq"] / (1 - beta2 ** state["step"])).sqrt()

    made = settled()
    weight = made.model["weight"]
    made.optimizer.state[weight]["step"] = torch.tensor(5.0)
    before = divisor()

    moments_counterfactual.lower_beta2(made.optimizer, 0.9)

    assert made.optimizer.param_groups[0]["betas"] == (0.9, 0.9)
    torch.testing.assert_close(divisor(), before)
