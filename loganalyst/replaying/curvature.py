"""The largest eigenvalue of a Hessian, by power iteration with Hessian-vector products."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Vectors = list[Any]  # one tensor per parameter
Multiply = Callable[[Vectors], Vectors]


def hessian_product(losses: Iterable[Any], parameters: Sequence[Any], vectors: Vectors) -> Vectors:
    """The Hessian of the sum of some losses (tensors with a graph) times vectors."""
    import torch

    total = [torch.zeros_like(v) for v in vectors]
    for loss in losses:
        gradients = torch.autograd.grad(loss, parameters, create_graph=True, allow_unused=True)
        curved = [(g, v) for g, v in zip(gradients, vectors, strict=True) if g is not None and g.requires_grad]
        if not curved:
            continue  # a linear loss has no curvature
        outputs, directions = zip(*curved, strict=True)
        products = torch.autograd.grad(outputs, parameters, directions, allow_unused=True)
        for sum_, product in zip(total, products, strict=True):
            if product is not None:
                sum_.add_(product)
    return total


def largest_eigenvalue(multiply: Multiply, like: Sequence[Any], iterations: int, tolerance: float) -> float:
    """The largest eigenvalue (not the largest by size) of the symmetric matrix that `multiply` applies, to a relative
    `tolerance` or as close as `iterations` come; NaN if it is not finite.
    """
    value = _dominant(multiply, like, iterations, tolerance)
    if not value < 0:
        return value

    def shifted(vectors: Vectors) -> Vectors:  # all its eigenvalues are above 0, so the largest one dominates
        return [p - value * v for p, v in zip(multiply(vectors), vectors, strict=True)]

    return _dominant(shifted, like, iterations, tolerance) + value


def _dominant(multiply: Multiply, like: Sequence[Any], iterations: int, tolerance: float) -> float:
    """The eigenvalue of largest absolute value."""
    import torch

    numbers = torch.Generator().manual_seed(0)
    vectors = _normed([torch.randn(p.shape, generator=numbers).to(p) for p in like])
    value = 0.0
    for _ in range(iterations):
        multiplied = multiply(vectors)
        before, value = value, sum(float((v * m).sum()) for v, m in zip(vectors, multiplied, strict=True))
        if not math.isfinite(value):
            return math.nan
        if abs(value - before) <= tolerance * abs(value):
            break
        vectors = _normed(multiplied)
    return value


def _normed(vectors: Vectors) -> Vectors:
    import torch

    norm = torch.nn.utils.get_total_norm(vectors)
    return [v / norm for v in vectors]
