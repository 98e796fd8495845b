"""Copies of the states of a training."""

import torch

from loganalyst.replaying.savedstates import saved_states
from tests.replaying import entries


def test_saved_states_do_not_change_with_the_training():
    made = entries.healthy()
    before = made.model[0].weight.detach().clone()
    saved = saved_states(made)
    made.model[0].weight.data.zero_()
    made.optimizer.param_groups[0]["lr"] = 7.0

    assert set(saved) == {"model", "optimizer", "scheduler"}  # no scaler
    assert torch.equal(saved["model"]["0.weight"], before)
    assert saved["optimizer"]["param_groups"][0]["lr"] == 0.05
