"""The script that measures gradients, compared with torch."""

import math

import pytest


def test_gradient_norms_are_torchs(script, torch, model):
    model(torch.randn(32, 4)).square().mean().backward()
    first = [p.grad.flatten() for p in model[0].parameters()]
    found = script("gradient_norms")(model)

    assert list(found["layers"]) == ["0", "2"]
    assert found["layers"]["0"]["norm"] == torch.cat(first).norm().item()
    assert found["layers"]["0"]["size"] == 40
    assert found["total"] == pytest.approx(
        torch.nn.utils.get_total_norm(p.grad for p in model.parameters()).item(), rel=1e-6
    )
    assert found["suspicious"] == []


def test_gradient_norms_name_dead_units_and_layers_that_get_nothing(script, torch, model):
    with torch.no_grad():
        model[0].bias[:7] = -100.0
    model.append(torch.nn.Linear(3, 3))
    model[:3](torch.rand(32, 4) + 1).square().mean().backward()
    found = script("gradient_norms")(model)

    zeros = torch.cat([p.grad.flatten() for p in model[0].parameters()]).eq(0).sum().item()
    assert found["layers"]["0"]["zeros"] == pytest.approx(zeros / 40)
    assert found["layers"]["3"] == {"size": 0, "norm": None, "zeros": None}
    assert "3: no gradient reaches it" in found["suspicious"]
    assert any(text.startswith("0: ") and text.endswith("of its gradient is exactly 0") for text in found["suspicious"])


def test_gradient_norms_name_the_layer_that_starves_and_the_one_that_overflows(script, torch, model):
    model(torch.randn(32, 4)).square().mean().backward()
    model[0].weight.grad.mul_(1e-9)
    model[0].bias.grad.mul_(1e-9)
    [starved] = script("gradient_norms")(model)["suspicious"]
    model[2].bias.grad[0] = math.inf
    overflowing = script("gradient_norms")(model)["suspicious"]

    assert starved.startswith("0: its gradient is ")
    assert "2: its gradient is not finite" in overflowing


def test_gradient_norms_report_a_vanished_gradient(script, torch, model):
    (1e-6 * model(torch.randn(32, 4)).square().mean()).backward()
    found = script("gradient_norms")(model)

    assert found["suspicious"] == [f"the whole gradient is {found['total']:.2g}"]


def test_rows_of_an_embedding_that_a_batch_does_not_use_are_no_fault(script, torch):
    model = torch.nn.Sequential(torch.nn.Embedding(100, 4, sparse=True), torch.nn.Linear(4, 1))
    model(torch.tensor([1, 1, 2])).sum().backward()
    found = script("gradient_norms")(model)

    assert found["layers"]["0"]["zeros"] == pytest.approx(0.98)
    assert found["suspicious"] == []
