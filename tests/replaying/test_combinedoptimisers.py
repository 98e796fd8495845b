"""Several optimisers or schedulers used as one."""

import torch

from loganalyst.replaying.combinedoptimisers import Combined, CombinedOptimizers, members


def test_a_rate_changed_in_the_groups_takes_effect():
    first, second = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    combined = CombinedOptimizers([torch.optim.SGD([first], lr=1.0), torch.optim.SGD([second], lr=1.0)])
    combined.param_groups[1]["lr"] = 10.0
    (first + second).backward()
    combined.step()

    assert (first.item(), second.item()) == (0.0, -9.0)
    combined.zero_grad()
    assert first.grad is None


def test_states_return_in_their_order():
    weight = torch.nn.Parameter(torch.ones(1))
    combined = Combined([torch.optim.SGD([weight], lr=rate) for rate in (1.0, 2.0)])
    state = combined.state_dict()
    for part in combined.parts:
        part.param_groups[0]["lr"] = 0.0
    combined.load_state_dict(state)

    assert [part.param_groups[0]["lr"] for part in members(combined)] == [1.0, 2.0]
    assert (members(None), members(7)) == ((), (7,))
