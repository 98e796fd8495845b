"""The total and the components in the result of a loss."""

from dataclasses import dataclass

import pytest
import torch

from loganalyst.errors import ReplayError
from loganalyst.replaying.lossvalues import total_and_components


@dataclass
class Output:
    """An output as transformers has it."""

    loss: torch.Tensor
    logits: torch.Tensor


def numbers(loss, weights=None):
    total, components = total_and_components(loss, weights)
    return float(total), {name: float(value) for name, value in components.items()}


def test_a_mapping_is_summed_with_its_weights_unless_it_has_a_total():
    a, b = torch.tensor(1.0), torch.tensor([10.0])

    assert numbers(a) == (1.0, {})
    assert numbers({"a": a, "b": b}, {"b": 0.5}) == (6.0, {"a": 1.0, "b": 10.0})
    assert numbers({"loss": a, "b": b}) == (1.0, {"b": 10.0})
    assert numbers(Output(a, torch.ones(3))) == (1.0, {})


@pytest.mark.parametrize("loss", [torch.ones(2), 3.0, {"a": torch.ones(2)}, {}])
def test_a_loss_without_a_tensor_of_one_number_is_refused(loss):
    with pytest.raises(ReplayError, match="a tensor"):
        total_and_components(loss, None)
