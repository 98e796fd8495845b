"""The script that fits one batch, compared with the same training in torch."""

import math


def loss_of(model, batch):
    from torch.nn.functional import cross_entropy

    return cross_entropy(model(batch[0]), batch[1])


def test_one_batch_overfit_trains_as_torch_does_and_leaves_the_model_alone(script, torch, model):
    from copy import deepcopy

    batch = torch.randn(16, 4), torch.randint(3, (16,))
    before, random = deepcopy(model.state_dict()), torch.get_rng_state()
    found = script("one_batch_overfit")(model, loss_of, batch, steps=400, rate=0.05)

    assert torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert [p.grad for p in model.parameters()] == [None] * 4
    losses, twin = [], deepcopy(model)
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        loss = loss_of(twin, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert found["losses"] == losses
    assert found["drop"] == (losses[0] - losses[-1]) / losses[0] > 0.9
    assert found["still"] == found["suspicious"] == []


def test_one_batch_overfit_leaves_dropout_out_and_keeps_the_mode(script, torch, model):
    model.insert(2, torch.nn.Dropout(0.9))
    batch = torch.randn(16, 4), torch.randint(3, (16,))
    found = script("one_batch_overfit")(model, loss_of, batch, steps=400, rate=0.05)

    assert found["drop"] > 0.9
    assert model[2].training


def test_one_batch_overfit_names_a_batch_it_cannot_fit_and_frozen_parameters(script, torch, model):
    model.append(torch.nn.Linear(3, 1))  # is not used
    batch = torch.zeros(16, 4), torch.tensor([0, 1, 2, 2] * 4)  # same inputs, other labels
    found = script("one_batch_overfit")(model, lambda m, b: loss_of(m[:3], b), batch, steps=50)

    assert found["still"] == ["0.weight", "3.weight", "3.bias"]  # inputs of 0 move no weight of the first layer
    assert found["suspicious"][0] == "0.weight never moved"
    assert (
        found["suspicious"][-1] == f"the loss fell by only {found['drop']:.1%} in 50 steps: this batch is not learned"
    )


def test_one_batch_overfit_reports_a_nonfinite_loss(script, torch, model):
    batch = torch.full((4, 4), math.nan), torch.zeros(4, dtype=torch.long)

    assert script("one_batch_overfit")(model, loss_of, batch, steps=2)["suspicious"] == ["the loss is not finite"]
