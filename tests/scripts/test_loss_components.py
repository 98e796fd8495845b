"""The script that measures the terms of a loss, compared with torch."""

import math

import pytest


def test_loss_components_are_torchs(script, torch, model):
    output = model(torch.randn(8, 4))
    terms = {"fit": output.square().mean(), "size": 0.1 * output.abs().mean()}
    found = script("loss_components")(model, terms)
    gradients = {}
    for name, term in terms.items():
        model.zero_grad()
        term.backward(retain_graph=True)
        gradients[name] = torch.cat([p.grad.flatten() for p in model.parameters()])

    for name, other in [("fit", "size"), ("size", "fit")]:
        term = found["terms"][name]
        assert term["value"] == terms[name].item()
        assert term["gradient"] == pytest.approx(gradients[name].norm().item(), rel=1e-6)
        cosine = torch.cosine_similarity(gradients[name], gradients[other], dim=0).item()
        assert term["cosine"] == pytest.approx(cosine, rel=1e-5)
    assert found["terms"]["fit"]["share"] == pytest.approx(terms["fit"].item() / sum(terms.values()).item(), rel=1e-6)
    assert sum(term["gradient_share"] for term in found["terms"].values()) == pytest.approx(1)
    assert found["suspicious"] == []


def test_loss_components_leave_gradients_alone_and_the_graph_usable(script, torch, model):
    terms = {"all": model(torch.randn(8, 4)).square().mean()}
    script("loss_components")(model, terms)

    assert [p.grad for p in model.parameters()] == [None] * 4
    terms["all"].backward()


def test_loss_components_name_terms_that_drown_detach_oppose_or_overflow(script, torch, model):
    output = model(torch.randn(8, 4))
    loss = output.square().mean()
    found = script("loss_components")
    drowned = found(model, {"big": 1000 * loss, "small": output.mean()})
    detached = found(model, {"fit": loss, "off": loss.detach() * 2})
    opposed = found(model, {"fit": loss, "against": -0.9 * loss})
    overflowed = found(model, {"fit": loss, "nan": loss * math.nan})

    assert [text.split(" ", 3)[:3] for text in drowned["suspicious"]] == [["big:", "it", "has"]] * 2
    assert detached["suspicious"] == ["fit: it has 100.0% of the gradient", "off: it has no gradient"]
    assert opposed["suspicious"] == ["fit: it pulls against the rest", "against: it pulls against the rest"]
    assert opposed["terms"]["fit"]["cosine"] == pytest.approx(-1)
    assert "nan: its value or its gradient is not finite" in overflowed["suspicious"]
