"""What a checkpoint holds, by the structure of nested dicts and lists."""

import math

import pytest
import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict

import loganalyst as la
from loganalyst.checkpoint.contents import RNG_NAME, number, optimizer_of_groups
from tests.checkpoint.samples import (
    save_distributed,
    trained_linear,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (torch.tensor([2.5]), 2.5),
        (True, None),
        ("3", None),
        (math.nan, None),
        (10**400, None),
        (torch.ones(2), None),
    ],
)
def test_a_number_is_finite_and_single(value, expected):
    assert number(value) == expected


def test_an_optimiser_takes_eps_from_its_first_group_and_rates_from_all():
    found = optimizer_of_groups([{"lr": 0.1, "eps": 1e-6}, {"lr": 0.2, "eps": 1e-4}])

    assert (found.eps, found.lr) == (1e-6, [0.1, 0.2])
    assert optimizer_of_groups(None).eps == 1e-8


def test_names_of_random_states():
    names = ["rng_state", "cuda_rngs", "random_states_0", "rng", "string", "rngless", "random_crop"]

    assert [bool(RNG_NAME.search(name)) for name in names] == [True] * 4 + [False] * 3


def test_an_object_that_contains_itself_or_doubles_is_walked_once(tmp_path):
    """A list in itself, and 2^60 paths to one tensor."""
    own = [torch.ones(2)]
    own.append(own)
    deep = [torch.ones(3)]
    for _ in range(60):
        deep = [deep, deep]
    torch.save({"own": own, "deep": deep}, tmp_path / "x.pt")

    assert [t.count for t in la.inspect(tmp_path / "x.pt").checkpoints[0].tensors] == [2]


def test_an_optimiser_with_flat_keys_is_known(tmp_path):
    """As torchtitan saves it."""
    net, adam, _ = trained_linear()
    parameters, optimizer = get_state_dict(net, adam, options=StateDictOptions(flatten_optimizer_state_dict=True))
    (scan,) = la.inspect(save_distributed({"model": parameters, "optim": optimizer}, tmp_path / "x")).checkpoints

    (o,) = scan.optimizers
    assert (o.step, o.lr, sorted(m.name for m in o.moments)) == (
        1, (0.005,), ["bias.exp_avg", "bias.exp_avg_sq", "weight.exp_avg", "weight.exp_avg_sq"]
    )  # fmt: skip
