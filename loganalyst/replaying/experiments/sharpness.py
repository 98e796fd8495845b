"""Compares the largest curvature of the loss, as the optimiser sees it, with the largest at which its steps are stable.

It is the largest eigenvalue of the Hessian, at the last step before the loss rises. Plain gradient descent is stable
below 2 / rate (Cohen et al. 2021, Gradient descent on neural networks typically occurs at the edge of stability,
arXiv:2103.00065, with momentum in its appendix B). Adam is stable if the Hessian preconditioned by its second moments
is below (2 + 2 beta1) / (1 - beta1) / rate (Cohen et al. 2022, Adaptive gradient methods at the edge of stability,
arXiv:2207.14484).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from loganalyst.model import Measured
from loganalyst.replaying.bench import Bench, Change
from loganalyst.replaying.curvature import Vectors, hessian_product, largest_eigenvalue
from loganalyst.replaying.experiment import INCONCLUSIVE

FLOAT32 = Change(precision="float32")


def run(bench: Bench, seed: int) -> Measured:
    """Outcomes `beyond` and `within`. Between them is the edge of stability, where healthy trainings are too."""
    unchanged = bench.unchanged(seed)
    first = bench.level().first_rise(unchanged, bench.limits["rise"])
    done = len(unchanged.losses) - 1 if first is None else max(first - 1 - bench.start, 0)
    bench.train(seed, steps=done)
    step, limit = bench.start + done, stable_limit(bench.optimizer)
    scales = _scales(bench.optimizer, bench.limits["settled"])
    if limit is None or scales is None:
        why = "has no known stable limit" if limit is None else "has seen too few gradients"
        return Measured(INCONCLUSIVE, f"{type(bench.optimizer).__name__} {why}", start=bench.start)
    ratio = _curvature(bench, step, seed, scales) / limit
    rate = float(bench.optimizer.param_groups[0]["lr"])
    text = f"at step {step:,} and a rate of {rate:.3g} the largest curvature is {ratio:.3g} times the stable limit"
    outcome = INCONCLUSIVE
    if ratio >= bench.limits["beyond"]:
        outcome = "beyond"
    elif ratio <= bench.limits["within"] and first is not None:
        outcome = "within"
    values = {"ratio": ratio, "step": step, "rate": rate}
    return Measured(outcome, text, first is not None, values, {"unchanged": unchanged.losses}, bench.start)


def _curvature(bench: Bench, step: int, seed: int, scales: Mapping[Any, Any]) -> float:
    """The largest eigenvalue of the Hessian scaled from both sides."""
    parameters, factors = list(scales), list(scales.values())

    def multiply(vectors: Vectors) -> Vectors:
        scaled = [v * f for v, f in zip(vectors, factors, strict=True)]
        multiplied = hessian_product(_losses(bench, step, seed), parameters, scaled)
        return [v * f for v, f in zip(multiplied, factors, strict=True)]

    return largest_eigenvalue(multiply, parameters, int(bench.limits["iterations"]), bench.limits["exact"])


def stable_limit(optimizer: Any) -> float | None:
    """The largest stable product of rate and (preconditioned) curvature; None if not known."""
    from torch.optim import SGD

    group = optimizer.param_groups[0]
    if isinstance(optimizer, _adams()):
        return float((2 + 2 * group["betas"][0]) / (1 - group["betas"][0]))
    if isinstance(optimizer, SGD):
        momentum = group["momentum"]
        return float((2 + 2 * momentum) / (1 + 2 * momentum if group["nesterov"] else 1 - group["dampening"]))
    return None


def _adams() -> tuple[type, ...]:
    from torch.optim import Adam, AdamW, NAdam, RAdam

    return Adam, AdamW, NAdam, RAdam


def _scales(optimizer: Any, settled: float) -> dict[Any, Any] | None:
    """For each parameter the root of the rate, divided by the root of Adam's preconditioner. None if Adam made fewer
    steps than `settled`, because its first steps are long in any training.
    """
    scales: dict[Any, Any] = {}
    adam = isinstance(optimizer, _adams())
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            scales[parameter] = float(group["lr"]) ** 0.5
            if not (parameter.requires_grad and adam):
                continue
            state = optimizer.state.get(parameter, {})
            if (steps := float(state.get("step", 0))) < settled:
                return None
            first, second = (1 - beta**steps for beta in group["betas"])
            moment = state.get("max_exp_avg_sq", state["exp_avg_sq"])
            scales[parameter] /= (first * ((moment / second).sqrt() + group["eps"])).sqrt()
    return {p: scale for p, scale in scales.items() if p.requires_grad}


def _losses(bench: Bench, step: int, seed: int) -> Iterator[Any]:
    """The mean loss over the batches of some steps up to `step`, in parts, with the same random numbers each time."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.manual_seed(seed)
    numbers = range(max(step + 1 - int(bench.limits["steps"]), 0), step + 1)
    # other kernels have no second derivative
    with sdpa_kernel(SDPBackend.MATH), torch.backends.cudnn.flags(enabled=False):
        for number in numbers:
            for piece, share in bench.pieces(number, FLOAT32):
                yield bench.forward(piece, FLOAT32)[0] * (share / len(numbers))
