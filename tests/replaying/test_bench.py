"""A bench restores its checkpoint exactly, steps as the training did, and uses less memory if it must."""

import numpy as np
import pytest
import torch

from loganalyst.errors import ReplayError
from loganalyst.replaying.bench import Change
from loganalyst.replaying.spec import ReplaySpec
from tests.replaying import entries


def adam(**more):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.Linear(16, 1))
    return ReplaySpec(model, torch.optim.AdamW(model.parameters(), lr=1e-2), entries.mse, entries.data(), **more)


def test_the_same_seed_gives_the_same_steps_and_another_does_not(bench):
    found = bench(adam(), start=10)

    assert found.train(0).losses == found.train(0).losses
    assert found.train(0).losses != found.train(1).losses
    assert found.random


def test_without_randomness_every_seed_is_the_same(bench):
    found = bench(entries.healthy(), start=10)

    assert found.train(0).losses == found.train(2).losses
    assert not found.random


@pytest.mark.parametrize(("device", "seed", "times"), [("cuda", 0, 1), ("cuda", 1, 0), ("cpu", 0, 0)])
def test_the_random_numbers_of_the_gpu_go_on_where_there_is_one(bench, monkeypatch, device, seed, times):
    made, states = bench(entries.healthy()), []
    made.device, made.cuda_state = torch.device(device), torch.arange(16, dtype=torch.uint8)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, _device: states.append(state))

    made.restore(seed)

    assert len(states) == times


def test_a_replay_repeats_the_training_bit_by_bit(bench):
    """From step 30 on its losses are those of the training, with optimiser and schedule."""
    whole = bench(entries.rate_too_high(), steps=70).train(0).losses

    assert bench(entries.rate_too_high(), start=30, steps=40).train(0).losses == whole[30:70]


def halves(made, *, several):
    """Two optimisers with a scheduler each, or one with two groups: for the layers apart."""
    first, last = made.model[0].parameters(), made.model[2].parameters()
    slow, fast = {"lr": 0.02, "momentum": 0.9}, {"lr": 0.05, "momentum": 0.5}
    if several:
        optimizers = [torch.optim.SGD(first, **slow), torch.optim.SGD(last, **fast)]
    else:
        optimizers = [torch.optim.SGD([{"params": first, **slow}, {"params": last, **fast}])]
    schedulers = [torch.optim.lr_scheduler.ExponentialLR(o, 0.95) for o in optimizers]
    parts = (optimizers, schedulers) if several else (optimizers[0], schedulers[0])
    return ReplaySpec(made.model, parts[0], made.loss, made.batches, parts[1])


@pytest.mark.parametrize("change", [Change(), Change(rate=0.1), Change(clip=0.1)])
def test_several_optimisers_are_as_one_with_their_groups(bench, change):
    several, one = (bench(halves(entries.healthy(), several=s), start=10) for s in (True, False))

    assert several.train(0, change).losses == one.train(0, change).losses
    assert several.train(0).losses == one.train(0).losses


def test_a_change_is_gone_afterwards(bench):
    found = bench(adam(), start=5)
    before = found.train(0).losses

    found.train(0, Change(rate=0.1, clip=0.01, prepare=lambda b: b.model[0].weight.data.zero_()))

    assert found.train(0).losses == before


def test_a_rate_of_zero_moves_nothing(bench):
    found = bench(entries.healthy(), start=5)
    found.restore(0)
    weights = found.model[0].weight.clone()

    found.train(0, Change(rate=0.0))

    assert torch.equal(found.model[0].weight, weights)


def test_gradients_of_accumulated_batches_are_those_of_one_large_batch(bench):
    x, y = torch.randn(4, 8, 8), torch.randn(4, 8, 1)
    pairs = bench(entries.spec(0.1, lambda i: (x[i % 4], y[i % 4]), accumulate=2), steps=2)
    joined = bench(
        entries.spec(0.1, lambda i: (x[2 * i : 2 * i + 2].flatten(0, 1), y[2 * i : 2 * i + 2].flatten(0, 1))), steps=2
    )

    np.testing.assert_allclose(pairs.train(0).losses, joined.train(0).losses, rtol=1e-5)
    np.testing.assert_allclose(pairs.train(0).norms, joined.train(0).norms, rtol=1e-4)


def test_a_level_is_measured_with_a_loss_scale_and_leaves_it_as_it_is(bench):
    """A scaler's own `unscale_` may be called once a step; the gradient is that without a scale."""
    found = bench(entries.spec(0.05, entries.data(), precision="bfloat16", scaler=torch.amp.GradScaler("cpu")))
    plain = bench(entries.spec(0.05, entries.data(), precision="bfloat16"))

    assert found.level().norm == pytest.approx(plain.level().norm, rel=1e-6)
    assert found.train(0, steps=5).losses == pytest.approx(plain.train(0, steps=5).losses, rel=1e-6)


def test_a_batch_that_does_not_fit_into_memory_is_split(bench):
    def loss(model, batch):
        if len(batch[0]) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return entries.mse(model, batch)

    short, plenty = bench(entries.spec(0.05, entries.data(), loss)), bench(entries.healthy())

    np.testing.assert_allclose(short.train(0).losses, plenty.train(0).losses, rtol=1e-4)
    assert short.notes[-1] == "out of memory: batches are split into 4 parts with summed gradients"


def test_a_batch_whose_parts_do_not_fit_is_an_error(bench):
    def loss(model, batch):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(ReplayError, match="one batch does not fit into memory"):
        bench(entries.spec(0.05, entries.data(), loss)).train(0)


@pytest.mark.parametrize(
    ("given", "total"),
    [
        (lambda loss: loss, 4.0),
        (lambda loss: {"a": loss, "b": 2 * loss}, 12.0),
        (lambda loss: {"loss": loss, "b": 2 * loss}, 4.0),
    ],
)
def test_the_total_is_the_loss_or_the_sum_of_its_components(bench, given, total):
    found = bench(entries.spec(0.05, entries.data(), lambda m, b: given(m[0].weight.sum() * 0 + 4.0)))

    assert found.losses(found.batch(0))["total"] == total


def test_components_have_their_weights(bench):
    made = entries.spec(
        0.05, entries.data(), lambda m, b: {"a": torch.tensor(1.0), "b": torch.tensor(10.0)}, weights={"b": 0.5}
    )
    found = bench(made)

    assert found.losses(found.batch(0)) == {"a": 1.0, "b": 10.0, "total": 6.0}


def test_an_invalid_loss_is_refused(bench):
    with pytest.raises(ReplayError, match=r"loss is Tensor \(16, 1\)"):
        bench(entries.spec(0.05, entries.data(), lambda m, b: m(b[0]))).train(0)
