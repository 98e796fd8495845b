"""Batches with known faults."""

import math

import pytest
import torch
from torch import nn

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import input_statistics
from tests.replaying.networks import chain, made


def rows(change):
    """Batches of 16 rows with 3 classes; `change(x, y, i)` alters one."""

    def batch(i):
        numbers = torch.Generator().manual_seed(i)
        x = torch.randn(16, 8, generator=numbers)
        return change(x, torch.arange(16) % 3, i)

    return batch


def put(tensor, place, value):
    tensor[place] = value
    return tensor


@pytest.mark.parametrize(
    ("change", "outcome", "words"),
    [
        (lambda x, y, i: (x, y), "balanced", "nothing is unusual in 10 batches"),
        (lambda x, y, i: {"x": x, "y": y.float() + 0.5}, "sound", ""),
        (lambda x, y, i: (put(x, (0, 0), math.inf) if i == 7 else x, y), "nonfinite", "1 values of 0 in batch 7"),
        (lambda x, y, i: (x * 1e4 if i == 7 else x, y), "extreme", "in batch 7"),
        (lambda x, y, i: (x * 0 + 1, y), "constant", "all of 0 is 1, in each of 10 batches"),
        (lambda x, y, i: (torch.ones(16, 8).cumsum(0), y), "same_batch", "9 of 9 batches"),
        (lambda x, y, i: (x, y * 0 + i % 3), "sorted", "100% of a batch are of one class, of which all"),
        (lambda x, y, i: (x, (y == 0) & (x[:, 0] > 2.5)), "one_class", "rows are of class 0"),
        (lambda x, y, i: (put(x, 3, x[2]), put(y, 3, y[2])), "repeated", "10 of 160 rows were in the same batch"),
        (lambda x, y, i: (x * 255, y), "unscaled", "it is not scaled"),
        (lambda x, y, i: "text", INCONCLUSIVE, "no tensors"),
    ],
)
def test_input_statistics(measure, change, outcome, words):
    found = measure(input_statistics, made(chain(nn.Tanh), batches=rows(change)))

    assert found.outcome == outcome
    assert words in found.text
    assert found.values.get("step") == (7 if outcome in ("nonfinite", "extreme") else None)


def test_batches_of_a_list_are_looked_through_once(measure):
    given = [rows(lambda x, y, i: (x, y))(0)]

    assert measure(input_statistics, made(chain(nn.Tanh), batches=given)).outcome == "balanced"
