"""Measures the share of each component in the loss and in its gradient, at the checkpoint and after some steps."""

from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench
from loganalyst.replaying.experiment import INCONCLUSIVE
from loganalyst.replaying.stages import Stage, stages

SUM_TOLERANCE = 0.01  # as a share of the loss
MAX_SHOWN = 8  # components named in a sentence

Terms = dict[str, dict[str, float]]


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `drowned`, `cut_off`, `opposed`, `balanced`."""
    looks = [(stage, _terms(bench, stage)) for stage in stages(bench, seed)]
    if any(len(terms) < 2 for _, terms in looks):
        return Measured(INCONCLUSIVE, "the loss has fewer than two components that add up to it")
    found = [f for stage, terms in reversed(looks) if (f := _fault(stage, terms, bench.limits))]
    stage, terms = looks[-1]
    values = {
        f"{name}, {key}": term[key]
        for name, term in [*terms.items()][:MAX_SHOWN]
        for key in ("share", "gradient_share")
    }
    outcome, text = found[0] if found else ("balanced", f"{stage.name} {_describe_shares(terms)}")
    return Measured(outcome, text, bool(found), {**values}, start=bench.start)


def _terms(bench: Bench, stage: Stage) -> Terms:
    """The median result of each component over some batches."""
    seen: list[Terms] = []
    for i in range(int(bench.limits["batches"])):
        total, components = bench.forward(bench.batch(stage.step * bench.spec.accumulate + i))
        seen.append(_shares(bench.model, _parts(bench, total, components)))
    return {name: {key: median(s[name][key] for s in seen) for key in seen[0][name]} for name in seen[0]}


def _shares(model: Any, parts: Mapping[str, Any]) -> Terms:
    """For each component: value, share of the sum, norm and share of its gradient, cosine with the gradient of the
    others.
    """
    if not parts:
        return {}
    values = np.array([float(part.detach()) for part in parts.values()])
    products = _products(model, [*parts.values()])  # of each pair of gradients
    norms = np.sqrt(products.diagonal())
    with_sum = products.sum(1)
    other_norms = np.sqrt(np.maximum(products.sum() - 2 * with_sum + norms**2, 0))
    cosines = (with_sum - norms**2) / np.maximum(norms * other_norms, 1e-30)
    columns = {
        "value": values,
        "share": np.abs(values) / max(np.abs(values).sum(), 1e-30),
        "gradient": norms,
        "gradient_share": norms / max(norms.sum(), 1e-30),
        "cosine": cosines,
    }
    return {name: {key: float(column[i]) for key, column in columns.items()} for i, name in enumerate(parts)}


def _products(model: Any, parts: list[Any]) -> Any:
    """The scalar products of all pairs of gradients, over all parameters; a missing gradient counts as 0."""
    import torch

    trained = [p for p in model.parameters() if p.requires_grad]
    none = [None] * len(trained)
    found = [
        torch.autograd.grad(part, trained, retain_graph=True, allow_unused=True) if part.requires_grad else none
        for part in parts
    ]
    products = np.zeros((len(parts), len(parts)))
    for parameter, gradients in zip(trained, zip(*found, strict=True), strict=True):
        whole = [torch.zeros_like(parameter) if g is None else g.to_dense() for g in gradients]
        rows = torch.stack([g.detach().double().flatten() for g in whole])
        products += (rows @ rows.T).cpu().numpy()
    return products


def _parts(bench: Bench, total: Any, components: Mapping[str, Any]) -> dict[str, Any]:
    """The components as they enter the loss, without values that are only logged, such as an accuracy."""
    factors = bench.spec.weights or {}
    weighted = {name: factors.get(name, 1.0) * value.reshape(()) for name, value in components.items()}
    tolerance = SUM_TOLERANCE * abs(float(total.detach()))
    for parts in (weighted, {name: value for name, value in weighted.items() if value.requires_grad}):
        if parts and abs(float(sum(parts.values()).detach() - total.detach())) <= tolerance:
            return parts
    return {}


def _fault(stage: Stage, terms: Terms, limits: Mapping[str, float]) -> tuple[str, str] | None:
    top = max(terms, key=lambda name: terms[name]["gradient_share"])
    still = [name for name, term in terms.items() if term["gradient"] == 0 and term["value"] != 0]
    least = min(terms, key=lambda name: terms[name]["cosine"])
    shares = _describe_shares(terms)
    if still:
        return "cut_off", f"{stage.name} no gradient comes from {', '.join(still[:MAX_SHOWN])}; {shares}"
    if terms[top]["gradient_share"] > limits["drowned"]:
        return "drowned", f"{stage.name} {shares}"
    if terms[least]["cosine"] < limits["opposed"]:
        cosine = terms[least]["cosine"]
        return "opposed", f"{stage.name} {least} pulls against the rest (cosine {cosine:.2f}); {shares}"
    return None


def _describe_shares(terms: Terms) -> str:
    ordered = sorted(terms.items(), key=lambda pair: -pair[1]["gradient_share"])[:MAX_SHOWN]
    return ", ".join(
        f"{n} has {t['share']:.1%} of the loss and {t['gradient_share']:.1%} of the gradient" for n, t in ordered
    )
