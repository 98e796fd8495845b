"""Choices from tables and draws from distributions, found by their operations."""

import pytest
import torch

from loganalyst.replaying.sampledchoices import ChoiceWatch, Usage


def test_choices_are_counted_by_the_entries_that_are_looked_up():
    model = torch.nn.Embedding(3, 2)
    usage = Usage()
    for scores in ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 5.0, 1.0], [9.0, 0.0, 0.0]]):
        with ChoiceWatch(model, usage):
            model(torch.tensor(scores).argmax(-1))

    assert {name: counts.tolist() for name, counts in usage.choices.items()} == {"argmax in loss": [1.0, 2.0, 1.0]}


def test_the_divergence_of_a_draw_is_exact():
    mean, scale = torch.full((2, 1), 2.0, requires_grad=True), torch.ones(2, 1, requires_grad=True)
    usage = Usage()
    with ChoiceWatch(torch.nn.Identity(), usage):
        mean + torch.randn(2, 1) * scale

    ((name, (divergence, samples)),) = usage.draws.items()
    assert (name, samples) == ("draw in loss", 2)
    assert divergence.tolist() == pytest.approx([2 * 2.0**2 / 2])
