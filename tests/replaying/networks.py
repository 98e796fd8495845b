"""Networks and trainings that several tests of experiments use."""

import torch
from torch import nn

from loganalyst import ReplaySpec
from tests.replaying import entries


def made(model, loss=entries.mse, batches=None, trained=None, rate=0.05, **more):
    """A training of a model under SGD; `trained` are the parameters that the optimiser has."""
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(list(trained or model.parameters()), lr=rate)
    return ReplaySpec(model, optimizer, loss, batches or entries.data(), **more)


def chain(activation, depth=3, width=16):
    torch.manual_seed(0)
    hidden = [part for _ in range(depth) for part in (nn.Linear(width, width), activation())]
    return nn.Sequential(nn.Linear(8, width), activation(), *hidden, nn.Linear(width, 1))


def with_(model, change):
    """The model after a change of its weights."""
    with torch.no_grad():
        change(model)
    return model


def dies(model):
    model[2].bias.fill_(-1e3)
