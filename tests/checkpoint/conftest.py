"""Checkpoints that several files read."""

import pytest
import torch
from torch.distributed.checkpoint.state_dict import get_state_dict

from tests.checkpoint.samples import save_distributed, trained, trained_linear


@pytest.fixture
def saved(tmp_path):
    net, adam, plan = trained()
    scaler = {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 9, "_growth_tracker": 1}
    whole = {"model_state_dict": net.state_dict(), "opt": adam.state_dict(), "plan": plan.state_dict(),
             "amp": scaler, "epoch": 2, "global_step": 3, "rng_state": torch.get_rng_state()}  # fmt: skip
    torch.save(whole, tmp_path / "last.pt")
    return tmp_path / "last.pt"


@pytest.fixture
def alone(tmp_path):
    net, adam, plan = trained_linear()
    parameters, optimizer = get_state_dict(net, adam)
    state = {"model": parameters, "optim": optimizer, "plan": plan.state_dict(), "step": 7, "epoch": 2}
    return save_distributed({**state, "rng_state": torch.get_rng_state()}, tmp_path / "step-7")
