"""Weights under the names that fit the model best."""

from pathlib import Path

import pytest
import torch

from loganalyst.checkpoint.torchfile import stored
from loganalyst.replaying import weightloading


def tensors(**named):
    return [stored(Path(), name.replace("_", "."), value) for name, value in named.items()]


@pytest.mark.parametrize("prefix", ["", "module_", "state_net_"])
def test_a_prefix_of_the_checkpoint_is_removed(prefix):
    model = torch.nn.Linear(2, 1)
    saved = {f"{prefix}weight": torch.full((1, 2), 3.0), f"{prefix}bias": torch.full((1,), 4.0)}

    assert weightloading.load(Path("x"), tensors(**saved), model) == []
    assert (model.weight.tolist(), model.bias.tolist()) == ([[3.0, 3.0]], [4.0])


def test_a_prefix_of_the_model_is_added():
    model = torch.nn.ModuleDict({"net": torch.nn.Linear(2, 1)})

    assert weightloading.load(Path("x"), tensors(weight=torch.ones(1, 2), bias=torch.ones(1)), model) == []
    assert model["net"].weight.tolist() == [[1.0, 1.0]]


def test_a_shared_parameter_is_not_missing():
    model = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2, bias=False), "b": torch.nn.Linear(2, 2, bias=False)})
    model["b"].weight = model["a"].weight

    assert weightloading.load(Path("x"), tensors(a_weight=torch.ones(2, 2)), model) == []
