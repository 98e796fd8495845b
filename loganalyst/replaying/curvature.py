"""The largest eigenvalue of a Hessian, by power iteration with products of Hessian and vectors."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Vectors = list[Any]  # a tensor a parameter


def product(losses: Iterable[Any], parameters: Sequence[Any], vectors: Vectors) -> Vectors:
    """The Hessian of the sum of some losses, each a tensor with a graph, times vectors."""
    import torch

    total = [torch.zeros_like(v) for v in vectors]
    for loss in losses:
        gradients = torch.autograd.grad(loss, parameters, create_graph=True, allow_unused=True)
        curved = [(g, v) for g, v in zip(gradients, vectors, strict=True) if g is not None and g.requires_grad]
        if not curved:
            continue  # a loss that is linear
        outputs, along = zip(*curved, strict=True)
        for sum_, part in zip(total, torch.autograd.grad(outputs, parameters, along, allow_unused=True), strict=True):
            if part is not None:
                sum_.add_(part)
    return total


def largest(multiply: Callable[[Vectors], Vectors], like: Sequence[Any], iterations: int, exact: float) -> float:
    """The largest eigenvalue (not the largest by size) of the symmetric matrix that `multiply` multiplies with, to a
    share `exact` of it or as near as some `iterations` come; NaN where it is not finite.
    """
    value = _dominant(multiply, like, iterations, exact)
    if not value < 0:
        return value

    def shifted(vectors: Vectors) -> Vectors:  # all its eigenvalues are above 0, and the largest dominates
        return [p - value * v for p, v in zip(multiply(vectors), vectors, strict=True)]

    return _dominant(shifted, like, iterations, exact) + value


def _dominant(multiply: Callable[[Vectors], Vectors], like: Sequence[Any], iterations: int, exact: float) -> float:
    """The eigenvalue of largest size."""
    import torch

    numbers = torch.Generator().manual_seed(0)
    vectors = _normed([torch.randn(p.shape, generator=numbers).to(p) for p in like])
    value = 0.0
    for _ in range(iterations):
        multiplied = multiply(vectors)
        before, value = value, sum(float((v * m).sum()) for v, m in zip(vectors, multiplied, strict=True))
        if not math.isfinite(value):
            return math.nan
        if abs(value - before) <= exact * abs(value):
            break
        vectors = _normed(multiplied)
    return value


def _normed(vectors: Vectors) -> Vectors:
    import torch

    norm = torch.nn.utils.get_total_norm(vectors)
    return [v / norm for v in vectors]
