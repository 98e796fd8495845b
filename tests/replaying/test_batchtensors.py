"""Batches of any structure: moved, split, walked through."""

from collections import namedtuple

import torch

from loganalyst.replaying import batchtensors

Pair = namedtuple("Pair", "x y")


def test_a_batch_is_split_along_the_first_axis_with_its_structure():
    batch = {"pair": Pair(torch.arange(5), torch.arange(10.0).reshape(5, 2)), "name": "kept"}
    first, second = batchtensors.split(batch, 2)

    assert (first["pair"].x.tolist(), second["pair"].x.tolist()) == ([0, 1], [2, 3, 4])
    assert (type(second["pair"]), second["pair"].y.shape, second["name"]) == (Pair, (3, 2), "kept")
    assert batchtensors.split(batch, 6) is None
    assert batchtensors.split([torch.ones(2), torch.ones(3)], 2) is None


def test_tensors_have_the_path_of_their_place():
    one = torch.ones(1)

    assert [name for name, _ in batchtensors.leaves({"ids": one, "more": [one, {"x": one}]})] == [
        "ids", "more.0", "more.1.x"
    ]  # fmt: skip
    assert [name for name, _ in batchtensors.leaves(one)] == ["batch"]


def test_integers_are_finite_and_nan_is_not():
    values = (torch.tensor([1]), torch.tensor([1.0, torch.nan]), torch.tensor([1 + 2j]))

    assert [batchtensors.finite(value) for value in values] == [True, False, True]
