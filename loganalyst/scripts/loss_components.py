"""Which term of the loss drives the model: values, gradients, terms that pull against the others.

    terms = {"reconstruction": reconstruction, "kl": beta * kl}    # weighted, as they stand in the sum
    loss_components(model, terms)                                  # before backward
    sum(terms.values()).backward()

Healthy: each term has a visible share of the gradient, and none always pulls against the rest.
Suspicious: one term has more than 0.98 of the sum or of the gradient (it drowns the others); a term without any
gradient (detached, or constant); NaN or Inf; a cosine with the rest below -0.5 (a gain of one term costs the others).
"""

from math import isfinite
from typing import Any

import torch


def loss_components(model: torch.nn.Module, terms: dict[str, torch.Tensor]) -> dict[str, Any]:
    """For each term: value, share of the sum, norm and share of its gradient, cosine with the other terms' gradient."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    gradients = {name: _gradient(term, parameters) for name, term in terms.items()}
    norms = {name: gradient.norm().item() for name, gradient in gradients.items()}
    values = {name: term.detach().item() for name, term in terms.items()}
    value_sum, norm_sum = sum(abs(value) for value in values.values()), sum(norms.values())
    found = {
        name: {
            "value": values[name],
            "share": abs(values[name]) / value_sum if value_sum else 0.0,
            "gradient": norms[name],
            "gradient_share": norms[name] / norm_sum if norm_sum else 0.0,
            "cosine": torch.cosine_similarity(gradient, _rest(gradients, name), dim=0).item(),
        }
        for name, gradient in gradients.items()
    }
    suspicious = [f"{name}: {fault}" for name, term in found.items() for fault in _faults(term, len(found))]
    print(f"{'term':<24} {'value':>11} {'share':>7} {'gradient':>11} {'share':>7} {'cosine':>7}")
    for name, term in found.items():
        left = f"{name:<24} {term['value']:>11.4g} {term['share']:>7.1%}"
        print(f"{left} {term['gradient']:>11.4g} {term['gradient_share']:>7.1%} {term['cosine']:>7.2f}")
    print(*(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {"terms": found, "suspicious": suspicious}


def _gradient(term: torch.Tensor, parameters: list[torch.nn.Parameter]) -> torch.Tensor:
    """The gradient as one vector over all parameters, 0 if the term does not depend on them; the graph is kept."""
    none = [None] * len(parameters)
    got = torch.autograd.grad(term, parameters, retain_graph=True, allow_unused=True) if term.requires_grad else none
    pairs = zip(got, parameters, strict=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).detach().float().flatten() for g, p in pairs])


def _rest(gradients: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    """The summed gradient of all other terms."""
    others = [gradient for other, gradient in gradients.items() if other != name]
    return torch.stack(others).sum(0) if others else torch.zeros_like(gradients[name])


def _faults(term: dict[str, float], terms: int) -> list[str]:
    if not isfinite(term["value"]) or not isfinite(term["gradient"]):
        return ["its value or its gradient is not finite"]
    checks = {
        "it has no gradient": term["gradient"] == 0,
        f"it has {term['share']:.1%} of the sum": terms > 1 and term["share"] > 0.98,
        f"it has {term['gradient_share']:.1%} of the gradient": terms > 1 and term["gradient_share"] > 0.98,
        "it pulls against the rest": term["cosine"] < -0.5,
    }
    return [text for text, found in checks.items() if found]
