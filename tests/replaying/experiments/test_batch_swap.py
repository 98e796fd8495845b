"""Faults that a batch causes, and others."""

import torch

from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.experiments import batch_swap
from tests.replaying import entries


def test_the_batch_and_the_sample_of_a_spike_are_named(run):
    def batches(i):
        x, y = whole(i)
        return (x, torch.cat([y[:11], y[11:12] * 300, y[12:]])) if i == 63 else (x, y)

    whole = entries.data()

    found = run(batch_swap, entries.spec(0.01, batches))

    assert (found.outcome, found.reproduced) == ("one_batch", True)
    assert (found.values["step"], found.values["batch"], found.values["samples"]) == (63, 63, "sample 11")
    assert "replacing that of step 63 alone is enough; the largest gradient in it has sample 11" in found.text


def test_a_batch_of_an_ordinary_loss_that_throws_the_weights_is_found(run):
    def loss(model, batch):
        steep = 1000.0 * torch.equal(batch[0], thrown) * model[2].weight.sum()
        return entries.mse(model, batch) + steep - steep.detach()

    thrown = entries.data()(60)[0]

    found = run(batch_swap, entries.spec(0.05, entries.data(), loss))

    assert (found.outcome, found.values["step"]) == ("one_batch", 60)


def test_one_of_the_batches_that_a_step_accumulates_is_named(run):
    made = entries.spec(0.05, entries.data(bad=73), accumulate=2)

    found = run(batch_swap, made, start=20)

    assert (found.outcome, found.values["step"], found.values["batch"]) == ("one_batch", 36, 73)


def test_data_that_is_harder_from_a_step_on_is_no_single_batch(run):
    whole = entries.data()

    found = run(batch_swap, entries.spec(0.01, lambda i: (whole(i)[0], whole(i)[1] * (4 if i >= 60 else 1))))

    assert found.outcome == "many_batches"


def test_a_rate_too_high_stays_with_other_batches(run):
    assert run(batch_swap, entries.rate_too_high()).outcome == "stayed"


def test_a_replay_without_a_fault_swaps_nothing(run):
    assert run(batch_swap, entries.healthy()).outcome == INCONCLUSIVE


def test_at_the_start_of_a_training_batches_from_beyond_the_replay_are_read(run):
    found = run(batch_swap, entries.spec(0.05, entries.data(bad=1)), start=0)

    assert (found.outcome, found.values["step"]) == ("one_batch", 1)
